"""The faults of public tiers: the reports, their classes, and the changes that reproduce them.

`reports` reads what was reported, `classes` and `changes` say what stands for it or what the model
lacks, `links` follows the addresses of the catalogue to the reports, `shown` takes from a run who
noticed and by which calls, and `page` makes the tables of properties/FAULTS.md from all of it.

A catalogue entry stands for a report whose address is in its `seen_in`, and for the class of that
report. So nothing is to be entered here for a new mutant, unless it is one of the changes.
"""
