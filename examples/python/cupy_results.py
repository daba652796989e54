"""CuPy: 16 results of 64 MiB come back from the GPU.

The fault: `.get()` makes a new array for each, whose memory nothing has touched. The system gives its pages one after
the other while the copy goes on.
--mended: `.get(out=array)` into one array that is kept.
"""

import cupy
import numpy
import steps

RESULTS, VALUES = 16, 16 << 20


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    values = cupy.arange(VALUES, dtype=cupy.float32)
    kept = numpy.zeros(VALUES, numpy.float32)

    def stretch():
        last = []
        for step in range(RESULTS):
            result = values * (step + 1)
            array = result.get(out=kept) if given.mended else result.get()
            last.append(float(array[-1]))
        return last

    nvtx = cupy.cuda.nvtx
    wait = cupy.cuda.runtime.deviceSynchronize
    last = steps.measure(stretch, wait, nvtx.RangePush, nvtx.RangePop, given.repeat)
    steps.finish(numpy.allclose(last, [(VALUES - 1) * (step + 1) for step in range(RESULTS)], rtol=1e-6))


if __name__ == "__main__":
    main()
