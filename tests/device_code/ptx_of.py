"""Extracts the PTX from an object compiled for one architecture by nvcc --no-compress: ptx_of.py OBJECT PTX"""

import sys
from pathlib import Path

BEGIN = b".version "  # PTX ends before a zero byte

_, *found = Path(sys.argv[1]).read_bytes().split(BEGIN)
if len(found) != 1:
    sys.exit(f"{sys.argv[1]} holds {len(found)} readable texts of PTX; one was expected")
Path(sys.argv[2]).write_bytes(BEGIN + found[0].partition(b"\0")[0])
