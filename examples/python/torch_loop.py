"""PyTorch: 64 batches of 4 MiB go to the GPU and through four linear layers.

The fault: `.to("cuda")` of a tensor in ordinary memory blocks the host, and the link is at a fifth of what it could do;
`.item()` waits for the GPU in each step, which has nothing to do until the next batch is there.
--mended: the batches are pinned, once; copies are non-blocking; one `.item()` at the end.
--overlapped: also, the next batch is on its way, in a stream of its own, while this one is worked on.
"""

import steps
import torch

BATCHES, ROWS, WIDTH, LAYERS = 64, 1024, 1024, 4


def slow(model, batches):
    total = 0.0
    for batch in batches:
        total += model(batch.to("cuda")).sum().item()
    return total


def mended(model, batches):
    total = torch.zeros((), device="cuda")
    for batch in batches:
        total += model(batch.to("cuda", non_blocking=True)).sum()
    return total.item()


def overlapped(model, batches, side):
    """`record_stream` keeps a batch's memory from being given to a later one while kernels still read it."""
    main = torch.cuda.current_stream()
    total = torch.zeros((), device="cuda")
    for batch in batches:
        with torch.cuda.stream(side):
            arriving = batch.to("cuda", non_blocking=True)
        main.wait_stream(side)
        arriving.record_stream(main)
        total += model(arriving).sum()
    return total.item()


def expected(model, batches):
    """The layers are linear, so the sum of what comes out follows from the sums of what goes in. And how large a sum of
    random signs could have been."""
    sums = sum(batch.double().sum(0) for batch in batches)
    for layer in model:
        weight, bias = layer.weight.detach().double().cpu(), layer.bias.detach().double().cpu()
        sums = weight @ sums + len(batches) * ROWS * bias
    return sums.sum().item(), sums.abs().sum().item()


def main():
    given = steps.arguments(__doc__.splitlines()[0], "overlapped")
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]).cuda()
    batches = [torch.rand(ROWS, WIDTH) for _ in range(BATCHES)]
    if given.mended or given.overlapped:
        batches = [batch.pin_memory() for batch in batches]
    side = torch.cuda.Stream()

    def stretch():
        if given.overlapped:
            return overlapped(model, batches, side)
        return mended(model, batches) if given.mended else slow(model, batches)

    with torch.no_grad():
        nvtx = torch.cuda.nvtx
        total = steps.measure(stretch, torch.cuda.synchronize, nvtx.range_push, nvtx.range_pop, given.repeat)
    right, scale = expected(model, batches)
    steps.finish(abs(total - right) < 1e-3 * scale)


if __name__ == "__main__":
    main()
