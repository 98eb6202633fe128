"""The tier on real bytes: the operations of the reference over NumPy tables and device memory.

Read `layout` (bytes), `runtime` (what a device must do), `tier` and `fill` (the operations).
`simulated` is a device without a GPU; only `cuda` needs one.
"""
