"""``python -m informed``: the command line, see :mod:`informed.cli`."""

import sys

from informed.cli import main

if __name__ == "__main__":
    sys.exit(main())
