"""Wrong versions of `reference/tier.py`: leases and holds. See also `tier_pins`, `tier_copies`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tier.open-counts-pages-in-use",
        does="A sequence is let in because the others are idle, and then they get no frames.",
        edits=(
            Edit(
                "reference.tier",
                "    promised = sum(lease.promise for _, lease in state.leases)\n",
                "    promised = sum(len(lease.pins) for _, lease in state.leases)\n",
            ),
        ),
        expect=("promises-are-covered", "success-is-allowed", "room-for-every-promise"),
        seen_in=(
            "https://github.com/mstar-project/mstar/issues/307",
            "https://github.com/vllm-project/vllm/issues/49902",
        ),
        number=15,
    ),
    Named(
        id="tier.open-wants-empty-frames",
        does="A sequence is turned away because frames hold pages that nobody is using.",
        edits=(
            Edit(
                "reference.tier",
                "    if promised + promise > state.shape.frames:\n",
                "    free = sum(frame.phase == Phase.FREE for frame in state.frames)\n"
                "    if promised + promise > state.shape.frames or promise > free:\n",
            ),
        ),
        expect=("refusal-is-due",),
        seen_in=("https://github.com/vllm-project/vllm/pull/51323",),
        number=16,
        scope="small",
    ),
    Named(
        id="tier.fresh-page-keeps-old-rows",
        does="A sequence reads what another one wrote before it had the page.",
        edits=(
            Edit(
                "reference.tier",
                "HostPage((0,) * state.shape.rows, torn=False)",
                "state.host[page]",
            ),
        ),
        expect=("fresh-page-reads-zero", "read-sees-last-write"),
        seen_in=("https://github.com/neondatabase/neon/issues/5355",),
        number=21,
    ),
    Named(
        id="tier.share-is-not-counted",
        does="A shared page disappears as soon as the first of its users lets go.",
        edits=(
            Edit(
                "reference.tier",
                "    state = state._replace(pool=pool.hold(state.pool, page))\n",
                "",
            ),
        ),
        expect=("hold-count",),
        seen_in=("https://github.com/sgl-project/sglang/issues/13483",),
        number=27,
        scope="small",
    ),
    Named(
        id="tier.finish-checks-its-own-table",
        does="A sequence ends while a page it borrowed has rows that no host page has.",
        edits=(
            Edit(
                "reference.tier",
                "    dirty = tuple(page for page, _ in lease.pins if ",
                "    own = [page for page, _ in lease.pins if page in lease.table]\n"
                "    dirty = tuple(page for page in own if ",
            ),
        ),
        expect=("no-pin-leaves-dirt", "dirty-is-pinned", "success-is-allowed"),
        seen_in=(
            "review, remark 2",
            "https://github.com/percona/percona-server/pull/397",
        ),
        number=7,
        scope="small",
    ),
    Named(
        id="tier.finish-names-one-page",
        does="A sequence that may not end is told of one unsaved page, saves it, and is told of "
        "the next.",
        edits=(
            Edit(
                "reference.tier",
                "        raise DirtyFrame(lease_id, dirty)\n",
                "        raise DirtyFrame(lease_id, dirty[:1])\n",
            ),
        ),
        expect=("finish-names-all",),
        seen_in=("review, remark 2",),
        number=8,
        scope="small",
    ),
    Named(
        id="tier.empty-promise-is-taken",
        does="A sequence is opened that may never use a single page.",
        edits=(
            Edit(
                "reference.tier",
                "    if promise < 1:\n",
                "    if promise < 0:\n",
            ),
        ),
        expect=("success-is-allowed", "every-call-happens"),
    ),
    Named(
        id="tier.release-forgets-pins",
        does="A sequence gives a page back, and the page cannot leave its frame ever after.",
        edits=(
            Edit(
                "reference.tier",
                "    if get_pins(lease, page) > 0:\n"
                "        raise PagePinned(lease_id, page, get_pins(lease, page))\n",
                "",
            ),
        ),
        expect=("pin-needs-hold", "success-is-allowed"),
        seen_in=(
            "https://github.com/LMCache/LMCache/pull/3884",
            "https://github.com/paradedb/paradedb/issues/6208",
        ),
    ),
    Named(
        id="tier.borrowed-page-stays-counted",
        does="Pages that were shared once are never handed out again.",
        edits=(
            Edit(
                "reference.tier",
                "    state = drop_hold(set_lease(state, lease_id, lease), page)\n",
                "    own = page in get_lease(state, lease_id).table\n"
                "    state = set_lease(state, lease_id, lease)\n"
                "    state = drop_hold(state, page) if own else state\n",
            ),
        ),
        expect=("hold-count",),
        seen_in=(
            "https://github.com/LMCache/LMCache/issues/1756",
            "https://github.com/kvcache-ai/Mooncake/pull/3443",
        ),
        scope="small",
    ),
    Named(
        id="tier.release-empties-the-frame",
        does="One of two sequences lets go of a shared page, and it leaves its frame under the "
        "other one.",
        edits=(
            Edit(
                "reference.tier",
                "    state = drop_hold(set_lease(state, lease_id, lease), page)\n",
                "    state = on_page_freed(set_lease(state, lease_id, lease), page)\n"
                "    state = drop_hold(state, page)\n",
            ),
        ),
        expect=("maps-change-only-by-rule", "pinned-page-is-resident", "pinned-keeps-frame"),
        seen_in=("https://github.com/LMCache/LMCache/pull/3130",),
        scope="small",
    ),
    Named(
        id="tier.finish-keeps-borrowed-pages",
        does="Pages that an ended sequence had borrowed never become free.",
        edits=(
            Edit(
                "reference.tier",
                "    for page in (*lease.table, *lease.borrowed):\n",
                "    for page in lease.table:\n",
            ),
        ),
        expect=("finish-leaves-nothing", "hold-count"),
        seen_in=(
            "https://github.com/vllm-project/vllm-ascend/issues/16662",
            "https://github.com/sgl-project/sglang/pull/9874",
            "https://github.com/percona/percona-server/pull/397",
        ),
        scope="small",
    ),
    Named(
        id="tier.finish-keeps-the-promise",
        does="After some sequences ended, new ones are turned away from an idle tier.",
        edits=(
            Edit(
                "reference.tier",
                "    state = state._replace(leases=tuple(entry for entry in state.leases"
                " if entry[0] != lease_id))\n",
                "    state = set_lease(state, lease_id, lease._replace(table=(), borrowed=(),"
                " pins=()))\n",
            ),
        ),
        expect=("finish-leaves-nothing", "can-always-finish"),
        seen_in=("https://github.com/ai-dynamo/dynamo/issues/3730",),
    ),
    Named(
        id="tier.share-needs-a-frame",
        does="A page that is in host memory only is shared in vain: the call succeeds, and the "
        "sequence does not have it.",
        edits=(
            Edit(
                "reference.tier",
                "        raise AlreadyHeld(lease_id, page)\n    # EFFECT\n",
                "        raise AlreadyHeld(lease_id, page)\n"
                "    # EFFECT\n"
                "    if state.where[page] is None:\n"
                "        return None, state\n",
            ),
        ),
        expect=("holds-by-the-book",),
        seen_in=("https://github.com/NVIDIA/TensorRT-LLM/pull/16913",),
        scope="small",
    ),
    Named(
        id="tier.lowest-page-only",
        does="Pages are handed out in one order only, so no caller is tried with another.",
        edits=(
            Edit(
                "reference.tier",
                "Choice(page=page) for page in free]",
                "Choice(page=page) for page in free[:1]]",
            ),
        ),
        expect=("every-call-happens",),
    ),
    Named(
        id="tier.new-page-counts-as-borrowed",
        does="A page that a sequence allocated itself is listed among those others lent it.",
        edits=(
            Edit(
                "reference.tier",
                "lease._replace(table=(*lease.table, page))",
                "lease._replace(borrowed=(*lease.borrowed, page))",
            ),
        ),
        expect=("holds-by-the-book",),
    ),
    Named(
        id="tier.promise-goes-to-another",
        does="When a sequence ends, another may use more frames than it asked for.",
        edits=(
            Edit(
                "reference.tier",
                "    for page in (*lease.table, *lease.borrowed):\n",
                "    for other_id, other in state.leases[:1]:\n"
                "        other = other._replace(promise=other.promise + lease.promise)\n"
                "        state = set_lease(state, other_id, other)\n"
                "    for page in (*lease.table, *lease.borrowed):\n",
            ),
        ),
        expect=("other-leases-untouched",),
        seen_in=("https://github.com/vllm-project/vllm/issues/49902",),
        scope="small",
    ),
    Named(
        id="tier.off-page-comes-when-filled",
        does="Without a tier a new page is nowhere until somebody asks for it.",
        edits=(
            Edit(
                "reference.tier",
                "        state = map_page(state, page, page, Phase.READY)\n",
                "        pass\n",
            ),
        ),
        expect=("off-keeps-all-resident",),
        scope="off",
    ),
)
