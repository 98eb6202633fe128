"""The spec of the host tier, as pure functions over immutable states.

Read top to bottom: `words`, `refusals`, `state`, `pool`, `tier`, `fill`, `calls`, and last
`reference`, the thin mutable object that wraps them. Standard library only.
"""
