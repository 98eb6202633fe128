"""The changes to a tier that reproduce the public reports, and what stands for each here.

Their numbers are those of the survey of the reports; the ones left out there were merged into
others. A `lacks` begins with one of `LACKED`.
"""

import msgspec

LACKED: dict[str, str] = {
    "device": "parts of pages, readers that outlive their pin, sizes from a configuration",
    "outside": "what stands outside the tier: how keys are made, who schedules, what is measured",
    "tables": "several tables of rows that move together",
    "ranks": "several tiers side by side",
    "threads": "calls that overlap",
}
"""What the model may lack, by the word for it."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A small change to a tier."""

    number: int
    """Its number in the survey."""
    says: str
    """What is changed."""
    reports: tuple[str, ...]
    """The reports that it reproduces. Its classes are theirs."""
    mutants: tuple[str, ...] = ()
    """The mutants of the catalogue that are this change."""
    lacks: str = ""
    """What the model lacks to say it, or to say all of it."""


CHANGES = (
    Change(
        number=1,
        says="A fill that failed leaves its misses mapped.",
        reports=("B01", "L12", "D01"),
        mutants=(
            "fill.failed-copy-keeps-misses-mapped",
            "fill.fault-keeps-misses-mapped",
            "fill.failed-copy-serves-old-rows",
        ),
    ),
    Change(
        number=3,
        says="A frame counts as ready before its copy has ended.",
        reports=("S20", "L16"),
        mutants=(
            "fill.ready-before-the-copy-ends",
            "tables.claim-works-as-pin",
            "tier.lookup-shows-a-page-still-coming",
        ),
    ),
    Change(
        number=4,
        says="What was found is not held, so that it may go before it is used.",
        reports=("V08", "T03"),
        mutants=("fill.misses-placed-before-hits-claimed", "fill.victim-ignores-own-claims"),
    ),
    Change(
        number=5,
        says="The search for a victim does not look at copies in flight.",
        reports=("S03",),
        mutants=("fill.victim-ignores-copies-in-flight",),
    ),
    Change(
        number=6,
        says="The search for a victim ends at the first frame when none is free.",
        reports=("O21",),
        mutants=("fill.victim-falls-back-to-the-first-frame",),
    ),
    Change(
        number=8,
        says="A page becomes clean when its write-back starts.",
        reports=("B22",),
        mutants=("tier.clean-when-the-copy-starts",),
    ),
    Change(
        number=10,
        says="A page is evicted although its write-back failed.",
        reports=("S04",),
        mutants=("tier.failed-write-back-lets-go", "tier.failed-write-back-counts-as-done"),
    ),
    Change(
        number=11,
        says="The mark up to which rows are stored moves on where nothing was stored.",
        reports=("V19",),
        mutants=("tier.landed-copy-cleans-every-page", "tier.landed-copy-writes-nothing"),
    ),
    Change(
        number=12,
        says="One way of writing does not mark the page dirty.",
        reports=("V24",),
        mutants=("tier.borrowed-page-is-never-marked",),
    ),
    Change(
        number=13,
        says="A page is marked dirty without a pin.",
        reports=("B31", "B15"),
        mutants=("tier.dirty-without-a-pin",),
    ),
    Change(
        number=14,
        says="A dirty page may be unpinned.",
        reports=("B15",),
        mutants=("tier.unsaved-page-is-let-go",),
    ),
    Change(
        number=15,
        says="The generation does not move on when a page leaves its frame.",
        reports=("B02", "B34"),
        mutants=("tables.emptied-frame-keeps-its-generation", "fill.undo-keeps-generation"),
    ),
    Change(
        number=17,
        says="A late completion is matched by its page or key alone.",
        reports=("V32", "V41", "S05"),
        mutants=(
            "tables.completion-ignores-its-ticket",
            "tier.completion-goes-by-page",
            "fill.ticket-is-used-again",
        ),
    ),
    Change(
        number=18,
        says="Freeing a page leaves its entry in the map.",
        reports=("S25", "B29"),
        mutants=("pool.freed-page-stays-in-its-frame", "tables.evicted-page-is-still-found"),
    ),
    Change(
        number=20,
        says="That a page is in no frame is written as the number of the first one.",
        reports=("S27",),
        mutants=("tables.unmapped-means-the-first-frame",),
    ),
    Change(
        number=21,
        says="An unpin goes to another key, lease or generation.",
        reports=("B27",),
        mutants=("tier.unpin-takes-anothers-pin",),
    ),
    Change(
        number=23,
        says="Two layers release the same thing.",
        reports=("S06",),
        mutants=("tier.release-drops-two-holds",),
    ),
    Change(
        number=24,
        says="A list that names a page twice frees it twice in the count.",
        reports=("D08",),
        mutants=("pool.freed-page-is-listed-twice",),
    ),
    Change(
        number=26,
        says="A promise counts free frames only.",
        reports=("V27",),
        mutants=("tier.open-wants-empty-frames", "fill.only-free-frames-are-taken"),
    ),
    Change(
        number=29,
        says="Pins made on suspicion may use frames promised to another lease.",
        reports=("V17",),
        mutants=("fill.idle-frames-are-lent", "tier.open-counts-pages-in-use"),
    ),
    Change(
        number=30,
        says="An error is swallowed, and the copy counts as landed.",
        reports=("D01", "L21"),
        mutants=("transition.failed-copy-counts-as-landed",),
    ),
    Change(
        number=32,
        says="An abort filters or drops the completion of what was in flight.",
        reports=("A01",),
        mutants=("leave.completion-of-the-gone-is-dropped",),
    ),
    Change(
        number=33,
        says="What makes the copies dies at its first failure.",
        reports=("S29",),
        mutants=("tier.no-copy-ends-after-a-failure", "tier.failed-write-back-never-ends"),
    ),
    Change(
        number=34,
        says="Rows are brought to the last frames of a list and not to the first.",
        reports=("D02", "O20"),
        mutants=("fill.rows-land-in-the-last-frames", "fill.handles-come-sorted"),
    ),
    Change(
        number=35,
        says="The part of a page that is skipped is the wrong one, or one row too much.",
        reports=("V10", "V21"),
        mutants=(
            "fill.only-the-first-row-is-copied",
            "device.simulated.copy-leaves-out-the-last-row",
        ),
        lacks="device: copies of less than a page, and chunks that end inside one.",
    ),
    Change(
        number=36,
        says="Width is taken for stride, an offset has too few bits, or a row is too short.",
        reports=("V13", "S12"),
        mutants=(
            "tier.only-the-first-row-is-saved",
            "device.layout.width-for-stride",
            "device.simulated.copy-leaves-out-the-last-byte",
        ),
    ),
    Change(
        number=38,
        says="One of several streams or readers does not wait for a copy.",
        reports=("V01", "S21", "O04"),
        mutants=(
            "tier.write-during-its-own-copy",
            "device.data_path.one-of-two-streams-is-waited-for",
            "device.data_path.read-does-not-wait",
            "device.data_path.write-back-does-not-wait",
        ),
    ),
    Change(
        number=39,
        says="A frame is reused before its last reader, or before a copy has read it.",
        reports=("V02", "O07", "T07"),
        mutants=(
            "fill.victim-is-still-being-saved",
            "device.data_path.fill-does-not-wait",
            "device.data_path.frames-of-a-given-up-fill-are-not-kept-apart",
            "device.data_path.host-page-is-reused-under-its-copy",
        ),
        lacks="device: reads of the vocabulary wait for their rows, so no reader outlives its pin.",
    ),
    Change(
        number=40,
        says="Copies in flight are entered without the direction they go.",
        reports=("T04",),
        mutants=("tables.completion-ignores-direction",),
    ),
    Change(
        number=41,
        says="The end of a lease, or a reset, cleans up its own table only.",
        reports=("V05", "V32"),
        mutants=(
            "tier.finish-forgets-borrowed-copies",
            "tier.page-is-freed-under-a-copy",
            "leave.reset-keeps-claims",
        ),
    ),
    Change(
        number=42,
        says="A table beside the rows does not move with the page.",
        reports=("S11", "S14"),
        lacks="tables: a page has its rows and nothing beside them.",
    ),
    Change(
        number=44,
        says="Truncating leaves rows that are dirty or can still be found.",
        reports=("O13", "B19"),
        mutants=(
            "drafts.truncate-forgets-the-host-page",
            "drafts.truncate-keeps-the-key",
        ),
    ),
    Change(
        number=46,
        says="A lease that runs out counts as one that let go.",
        reports=("L16", "M01"),
        mutants=("leave.abandon-only-unlocks", "leave.abandon-forgets-copies"),
    ),
)
"""Every change, by its number."""
