"""``python -m densvec``: the command line."""

import sys

from densvec.cli import main

if __name__ == "__main__":
    sys.exit(main())
