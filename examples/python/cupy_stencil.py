"""CuPy: 12 fields of 32 MiB go to the GPU, are smoothed and come back.

The fault: `cupy.asarray` and `cupy.asnumpy` copy from and to ordinary memory, the latter to memory that is new each
time; each blocks the host, so that nothing ever runs beside anything.
--mended: pinned memory on the host and memory on the GPU that are used again, and three streams by turns.
"""

import cupy
import cupyx
import numpy
import steps

FIELDS, CELLS, STREAMS = 12, 8 << 20, 3

smooth = cupy.ElementwiseKernel(
    "raw float32 field, int64 cells",
    "float32 smoothed",
    "smoothed = (field[i > 0 ? i - 1 : i] + 2 * field[i] + field[i + 1 < cells ? i + 1 : i]) / 4",
    "smooth",
)


def slow(fields):
    results = []
    for field in fields:
        on_gpu = cupy.asarray(field)
        smoothed = smooth(on_gpu, CELLS, size=CELLS)
        results.append(cupy.asnumpy(smoothed))
    return results


class Mended:
    def __init__(self):
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(STREAMS)]
        self.inputs = [cupy.empty(CELLS, cupy.float32) for _ in range(STREAMS)]
        self.outputs = [cupy.empty(CELLS, cupy.float32) for _ in range(STREAMS)]
        self.results = [cupyx.empty_pinned(CELLS, numpy.float32) for _ in range(FIELDS)]

    def __call__(self, fields):
        for i, (field, result) in enumerate(zip(fields, self.results)):
            turn = i % STREAMS
            with self.streams[turn] as stream:
                self.inputs[turn].set(field, stream=stream)
                smooth(self.inputs[turn], CELLS, self.outputs[turn])
                self.outputs[turn].get(stream=stream, out=result, blocking=False)
        for stream in self.streams:
            stream.synchronize()
        return self.results


def right(fields, results):
    for field, result in zip(fields, results):
        around = numpy.pad(field, 1, "edge")
        if not numpy.allclose(result, (around[:-2] + 2 * field + around[2:]) / 4, atol=1e-6):
            return False
    return len(results) == FIELDS


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    random = numpy.random.default_rng(1)
    fields = [random.random(CELLS, numpy.float32) for _ in range(FIELDS)]
    compute = slow
    if given.mended:
        compute = Mended()
        for i, field in enumerate(fields):
            fields[i] = cupyx.empty_pinned(CELLS, numpy.float32)
            fields[i][...] = field

    nvtx = cupy.cuda.nvtx
    wait = cupy.cuda.runtime.deviceSynchronize
    results = steps.measure(lambda: compute(fields), wait, nvtx.RangePush, nvtx.RangePop, given.repeat)
    steps.finish(right(fields, results))


if __name__ == "__main__":
    main()
