"""Wrong versions of `reference/quarantine.py`: what copies without a lease may touch."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="quarantine.frame-is-free-under-a-copy",
        does="A frame is filled with another page while a copy of a client that has gone "
        "still writes to it.",
        edits=(
            Edit(
                "reference.quarantine",
                "Phase.QUARANTINED if touched else Phase.FREE",
                "Phase.FREE",
            ),
        ),
        expect=("quarantined-frames-wait",),
        seen_in=("https://github.com/ROCm/ATOM/pull/2167",),
        scope="leave",
    ),
    Named(
        id="quarantine.torn-page-counts-as-saved",
        does="A client that goes away during a write-back leaves a half-written page, and "
        "the next one reads it.",
        edits=(
            Edit(
                "reference.quarantine",
                "    if lost:\n",
                "    if lost and state.off:\n",
            ),
        ),
        expect=(
            "torn-is-dirty",
            "lost-is-known",
        ),
        seen_in=("https://github.com/LMCache/LMCache/issues/4967",),
        scope="orphans",
    ),
    Named(
        id="quarantine.others-pins-do-not-count",
        does="A client goes away, and a page that another is using loses what was not saved.",
        edits=(
            Edit(
                "reference.quarantine",
                "        used.update(page for page, _ in lease.pins)\n",
                "",
            ),
        ),
        expect=("pinned-page-is-resident",),
        scope="orphans",
    ),
    Named(
        id="quarantine.others-claims-do-not-count",
        does="A client goes away, and a page that another is about to use is gone from its frame.",
        edits=(
            Edit(
                "reference.quarantine",
                "        used.update(lease.claims)\n",
                "",
            ),
        ),
        expect=("pinned-page-is-resident",),
        scope="heirs",
    ),
    Named(
        id="quarantine.dirty-rows-are-kept",
        does="A page that a client left unsaved stays in its frame for good: nobody can evict it.",
        edits=(
            Edit(
                "reference.quarantine",
                "        if frame.dirty or frame.phase == Phase.FILLING:\n",
                "        if frame.phase == Phase.FILLING:\n",
            ),
        ),
        expect=("dirty-is-pinned",),
        seen_in=("https://github.com/percona/percona-server/pull/397",),
        scope="orphans",
    ),
    Named(
        id="quarantine.first-landing-frees-the-page",
        does="A page is used again after the first of two copies landed, while the second "
        "one runs.",
        edits=(
            Edit(
                "reference.quarantine",
                "    if page not in state.pool.retired or is_touched(state, page):\n",
                "    if page not in state.pool.retired:\n",
            ),
        ),
        expect=("touched-pages-wait",),
        scope="orphans",
    ),
)
