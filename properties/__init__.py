"""What must be true of a tier, and what looks for breaks.

Start with `rules/` (the invariants), then `registry` (what a rule is) and `view` (what it sees).
"""
