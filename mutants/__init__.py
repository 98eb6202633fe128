"""Wrong versions of the tier, and who notices: each invariant is shown to go red on one."""
