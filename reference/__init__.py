"""The spec of the host tier, as pure functions over immutable states.

Read top to bottom: `words`, `refusals`, `state`, `pool`, `tier`, `fill`, `calls`; then what the
public reports ask for beyond the spec's table: `leave` and `quarantine`, `drafts`; and last
`reference`, the thin mutable object that wraps them. Standard library only.
"""
