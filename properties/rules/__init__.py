"""The invariants of the tier. To add one, add a function to one of these files.

`pages` (residency and the pool), `pins` (holds, pins, promises, handles), `fills` (placing,
victims, undo), `dirt` (writes and write-backs), `views` (refusals, reads, counters), `graph` (the
reachable space). `rows` is no rule: it holds the refusals of the spec's rows as predicates.
"""
