"""``python -m launch``: start, watch, explain and stop the server."""

import os
import sys

from launch.cli import main

raise SystemExit(main(sys.argv[1:], os.environ))
