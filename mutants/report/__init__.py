"""The report of a whole run: what is in it, how it is made, written and shown.

`model` says what is in it, `make` fills it from a run, `text` and `markdown` show it, `traces`
writes the calls that show each cell, and `folder` puts it all in its place at once.
"""
