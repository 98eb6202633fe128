"""`python -m mutants`: see `commands`, one file for each command."""

import sys

from properties.cli import Commands, run

MUTANTS = Commands(
    "mutants.commands",
    "python -m mutants",
    "Wrong versions of the reference, and which rules notice them.",
)
"""The commands of `python -m mutants`."""

if __name__ == "__main__":
    sys.exit(run(MUTANTS))
