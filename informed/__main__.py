"""``python -m informed`` and the command ``informed``: see :mod:`informed.studies.cli`."""

import sys


def run() -> int:
    """Run the command line; a Ctrl-C while it still loads is no error either."""
    try:
        from informed.studies.cli import main

        return main()
    except KeyboardInterrupt:
        print("informed: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
