"""`python -m trainc_data`: the program trainc-data."""

import sys

from trainc_data.cli import main

if __name__ == "__main__":
    sys.exit(main())
