"""PyTorch: 2,048 blocks of 16 KiB of a cache on the GPU go out to pinned memory of the host.

The fault: `copy_` of each block. Every one of them passes through the interpreter, PyTorch and the driver, which takes
longer than the link needs for 16 KiB.
--mended: the GPU gathers the blocks, and one copy brings them all.
"""

import steps
import torch

CACHE, BLOCKS, VALUES = 16384, 2048, 8192  # blocks in the cache, blocks that go out, values of 2 bytes in each


def slow(cache, wanted, host):
    for place, block in enumerate(wanted.tolist()):
        host[place].copy_(cache[block], non_blocking=True)
    torch.cuda.synchronize()


def mended(cache, wanted, host):
    host.copy_(cache.index_select(0, wanted), non_blocking=True)
    torch.cuda.synchronize()


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    torch.manual_seed(1)
    cache = torch.rand(CACHE, VALUES, device="cuda").half()
    wanted = torch.randperm(CACHE, device="cuda")[:BLOCKS]
    host = torch.empty(BLOCKS, VALUES, dtype=torch.half, pin_memory=True)
    move = mended if given.mended else slow
    nvtx = torch.cuda.nvtx
    steps.measure(
        lambda: move(cache, wanted, host), torch.cuda.synchronize, nvtx.range_push, nvtx.range_pop, given.repeat
    )
    steps.finish(torch.equal(host, cache[wanted].cpu()))


if __name__ == "__main__":
    main()
