"""The classes of public faults, what the model lacks of each, and what to ask of a tier of yours.

Their ids are those of the survey of the reports. A `lacks` begins like that of a change: see
`changes`.
"""

import msgspec


class FaultClass(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which tiers break."""

    id: str
    """Its id: "C01"."""
    name: str
    """What goes wrong, in a few words."""
    ask: str
    """What to ask of a tier of yours."""
    have: tuple[str, ...]
    """The rules it should be held to, those first that say the most."""
    lacks: str = ""
    """What the model lacks to say it, or to say all of it."""


CLASSES = (
    FaultClass(
        id="C01",
        name="a failed load stays mapped, and is a hit over rows that never came",
        ask="After a load has failed at each of its pages in turn, can anybody find one of them?",
        have=("failed-fill-is-undone", "clean-equals-host", "read-sees-last-write"),
    ),
    FaultClass(
        id="C02",
        name="freed or evicted while a copy is in flight",
        ask="While a copy runs, who could take its source or its target, and what stops them?",
        have=("in-flight-is-owned", "victim-was-evictable", "finish-leaves-nothing"),
    ),
    FaultClass(
        id="C03",
        name="seen or reused before the copy is complete",
        ask="Between the start of a copy and its end, can its page be found, read or written?",
        have=("in-flight-is-owned", "lookup-tells-the-truth", "no-write-in-flight"),
        lacks="device: reads of the vocabulary wait for their rows, so no reader outlives its pin.",
    ),
    FaultClass(
        id="C04",
        name="a copy or read is ordered before the write that it needs",
        ask="By which event does each copy wait for the kernels that wrote its source?",
        have=("no-write-in-flight", "eviction-keeps-host", "write-back-publishes"),
    ),
    FaultClass(
        id="C05",
        name="a pin, reference or lock is never given back",
        ask="Does every way out, errors and cancelled requests too, give back what was taken?",
        have=("pins-by-the-book", "hold-count", "finish-leaves-nothing", "pages-are-partitioned"),
    ),
    FaultClass(
        id="C06",
        name="freed twice, or twice in the free list",
        ask="Are free and held pages, as they are really stored, all pages once each?",
        have=("pages-are-partitioned", "hold-count"),
    ),
    FaultClass(
        id="C07",
        name="a stale handle, entry or ticket is taken for a current one",
        ask="Does a handle of before an eviction still work once the page is back in its frame?",
        have=("stale-handle-is-refused", "generation-moves-on", "completion-is-own"),
    ),
    FaultClass(
        id="C08",
        name="written rows are lost: never stored, or clean too early",
        ask="At every moment, where are the last rows of each page, and does its flag say so?",
        have=("latest-rows-survive", "mark-makes-dirty", "write-back-publishes"),
    ),
    FaultClass(
        id="C09",
        name="a failed write-back is swallowed",
        ask="After a write-back has failed, is its page dirty with all its rows, and can it be "
        "saved again?",
        have=("failed-write-back-loses-nothing", "torn-is-dirty", "latest-rows-survive"),
    ),
    FaultClass(
        id="C10",
        name="a reservation is broken: refused, starved or deadlocked for no reason",
        ask="With every lease at its promise and the tier full, does each still get its frames?",
        have=("room-for-every-promise", "promise-is-kept", "refusal-is-due", "can-always-finish"),
    ),
    FaultClass(
        id="C11",
        name="a page in use is evicted",
        ask="With every frame in use, what does the search for a victim return?",
        have=("victim-was-evictable", "pinned-page-is-resident", "pinned-keeps-frame"),
    ),
    FaultClass(
        id="C12",
        name="the wrong page, row or direction is copied",
        ask="Are the bytes at both ends of each copy the same, with pages in shuffled frames?",
        have=("clean-equals-host", "copies-by-the-book", "eviction-keeps-host"),
        lacks="device: copies of less than a page, and ids that another layer maps once more.",
    ),
    FaultClass(
        id="C13",
        name="something never completes",
        ask="From every state, failures behind it too, is there a way to the end of every request?",
        have=("can-always-finish", "completion-is-own", "copies-by-the-book"),
    ),
    FaultClass(
        id="C14",
        name="a counter is wrong",
        ask="Does each counter move by exactly what each call did, failed calls too?",
        have=("counters-add-up", "looking-changes-nothing"),
    ),
    FaultClass(
        id="C15",
        name="a hit on what was evicted or freed",
        ask="When a page id is handed out again, can anything of its last life be found or read?",
        have=("resident-page-is-live", "fresh-page-reads-zero", "one-frame-per-page"),
    ),
    FaultClass(
        id="C16",
        name="two places under one key",
        ask="Are copies in flight told apart by tier and direction, and frames by their page?",
        have=("one-frame-per-page", "completion-is-own"),
    ),
    FaultClass(
        id="C17",
        name="keys that collide or do not match",
        ask="Can two contents have one key, or one content two, on any two paths?",
        have=("find-tells-the-truth", "key-names-durable-rows", "keys-by-the-book"),
        lacks="outside: a key is a number here; how it is made from what a page holds is not said.",
    ),
    FaultClass(
        id="C18",
        name="a rollback or truncation leaves stale rows",
        ask="After a truncation, is every row behind it gone from frame, host page and keys?",
        have=("truncate-takes-back", "key-names-durable-rows", "read-sees-last-write"),
    ),
    FaultClass(
        id="C19",
        name="ranks part from one another",
        ask="Do all ranks hit, miss, evict and fail alike, or decide together that they do not?",
        have=(),
        lacks="ranks: needs several tiers side by side that have to agree.",
    ),
    FaultClass(
        id="C20",
        name="other races",
        ask="Which two calls may run at once, and which lock makes that as if one came first?",
        have=("other-leases-untouched",),
        lacks="threads: calls are whole here; what one leaves of another's work is all one sees.",
    ),
    FaultClass(
        id="C21",
        name="sizes and settings are not checked",
        ask="Are page bytes, host capacity and addresses computed once, and checked at the start?",
        have=("promises-are-covered",),
        lacks="device: the shape is given here, while sizes in bytes come from a configuration.",
    ),
    FaultClass(
        id="C22",
        name="only part of a page's state is moved",
        ask="Which tables beside the rows are kept by frame, and does each move with its page?",
        have=("clean-equals-host", "read-sees-last-write"),
        lacks="tables: a page has its rows and nothing beside them.",
    ),
    FaultClass(
        id="C23",
        name="the end of a request, or a reset, cleans up its own table only",
        ask="When a request ends at any moment, which tables still name it or its copies?",
        have=(
            "finish-leaves-nothing",
            "quarantine-by-the-book",
            "reset-drops-all",
            "finish-names-all",
        ),
    ),
    FaultClass(
        id="C24",
        name="checked, then used without a pin in between",
        ask="Between finding a page and pinning it, what keeps it in its frame?",
        have=("fill-keeps-its-hits", "lookup-tells-the-truth", "victim-was-evictable"),
    ),
    FaultClass(
        id="C25",
        name="a dirty frame that nobody can save or evict",
        ask="Is there a path on which the last user of a page leaves while it is dirty?",
        have=("dirty-is-pinned", "no-pin-leaves-dirt", "only-a-pinner-succeeds"),
    ),
)
"""Every class, by its id."""
