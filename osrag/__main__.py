"""`python -m osrag`."""

import sys

from osrag.cli import main

sys.exit(main())
