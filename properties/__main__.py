"""`python -m properties`: see `commands`, one file for each command."""

import sys

from properties.cli import PROPERTIES, run

if __name__ == "__main__":
    sys.exit(run(PROPERTIES))
