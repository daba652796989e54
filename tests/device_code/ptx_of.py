"""Takes the PTX out of an object that was compiled for one architecture by nvcc --no-compress: ptx_of.py OBJECT PTX"""

import sys
from pathlib import Path

BEGIN = b".version "  # PTX begins so, and ends before a zero

_, found, *more = Path(sys.argv[1]).read_bytes().split(BEGIN)
if more:
    sys.exit(f"{sys.argv[1]} holds PTX for several architectures")
Path(sys.argv[2]).write_bytes(BEGIN + found.partition(b"\0")[0])
