"""CuPy: 40 steps, each of which needs a hundred small arrays of the host.

The fault: `cupy.array` of each of them. A copy of 256 bytes takes as long as one of 100 KiB.
--mended: they are put together on the host, and copied as one.
"""

import cupy
import numpy
import steps

STEPS, ARRAYS, VALUES = 40, 100, 64


def slow(small):
    total = cupy.zeros(VALUES, cupy.float64)
    for arrays in small:
        parts = [cupy.array(array) for array in arrays]
        total += cupy.stack(parts).sum(0)
    return cupy.asnumpy(total)


def mended(small):
    total = cupy.zeros(VALUES, cupy.float64)
    for arrays in small:
        total += cupy.array(numpy.stack(arrays)).sum(0)
    return cupy.asnumpy(total)


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    random = numpy.random.default_rng(1)
    small = [[random.random(VALUES, numpy.float32) for _ in range(ARRAYS)] for _ in range(STEPS)]
    compute = mended if given.mended else slow
    nvtx = cupy.cuda.nvtx
    wait = cupy.cuda.runtime.deviceSynchronize
    total = steps.measure(lambda: compute(small), wait, nvtx.RangePush, nvtx.RangePop, given.repeat)
    steps.finish(numpy.allclose(total, numpy.sum(small, axis=(0, 1), dtype=numpy.float64), rtol=1e-5))


if __name__ == "__main__":
    main()
