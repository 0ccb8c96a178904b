"""``./run bench NAME``: runs one benchmark module of this folder."""

import importlib
import pkgutil
import sys
from pathlib import Path

names = [m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name[0] != "_"]
if len(sys.argv) < 2 or sys.argv[1] not in names:
    sys.exit(f"usage: ./run bench NAME [ARGS], NAME one of: {', '.join(sorted(names))}")
importlib.import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])
