"""Numba: a kernel is called twelve times with the same arrays of 16 MiB.

The fault: the arrays are the host's. Numba copies each of them to the GPU before every call and back behind it, those
that did not change as well.
--mended: they are on the GPU before, and what is wanted comes back once.
"""

import numpy
import steps
from numba import cuda

CALLS, VALUES, THREADS = 12, 4 << 20, 256


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def call(x, y):
    for _ in range(CALLS):
        saxpy[(VALUES + THREADS - 1) // THREADS, THREADS](numpy.float32(0.5), x, y)


class Mended:
    def __init__(self, x, y):
        self.x, self.y = cuda.to_device(x), cuda.to_device(y)

    def __call__(self, x, y):
        call(self.x, self.y)
        self.y.copy_to_host(y)


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    x = numpy.arange(VALUES, dtype=numpy.float32) % 1024
    y = cuda.pinned_array(VALUES, numpy.float32) if given.mended else numpy.empty(VALUES, numpy.float32)
    y[...] = 0
    compute = Mended(x, y) if given.mended else call
    ranges = steps.Ranges()
    steps.measure(lambda: compute(x, y), cuda.synchronize, ranges.push, ranges.pop, given.repeat)
    # Sums of multiples of a half: exact as long as they are small.
    steps.finish(numpy.array_equal(y, (1 + given.repeat) * CALLS * numpy.float32(0.5) * x))


if __name__ == "__main__":
    main()
