"""PyTorch: 64 batches of 16 MiB, which worker processes unpack, then 32 products with each.

The fault: two workers. Unpacking a batch takes one of them longer than the GPU needs for two.
--mended: twelve workers. The machine needs as many CPUs.
"""

import zlib

import steps
import torch
import torch.utils.data

BATCHES, ROWS, COLUMNS = 64, 4096, 1024
PARTS = 16  # that a batch is packed in


class Packed(torch.utils.data.Dataset):
    """Batches of a data set that is compressed, as images and columns of tables are."""

    def __init__(self):
        values = torch.arange(ROWS * COLUMNS // PARTS, dtype=torch.float32).remainder_(251)
        self.parts = [zlib.compress((values + part).numpy().tobytes(), 1) for part in range(PARTS)]

    def __len__(self):
        return BATCHES

    def __getitem__(self, _):
        parts = [torch.frombuffer(bytearray(zlib.decompress(part)), dtype=torch.float32) for part in self.parts]
        return torch.cat(parts).view(ROWS, COLUMNS)


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    batches = torch.utils.data.DataLoader(
        Packed(), batch_size=None, num_workers=12 if given.mended else 2, pin_memory=True, persistent_workers=True
    )
    weights = torch.eye(COLUMNS, device="cuda")
    total = torch.zeros((), dtype=torch.float64, device="cuda")

    def stretch():
        total.zero_()
        for batch in batches:
            x = batch.to("cuda", non_blocking=True)
            for _ in range(32):
                x = x @ weights
            total.add_(x.sum(dtype=torch.float64))
        return total.item()

    nvtx = torch.cuda.nvtx
    result = steps.measure(stretch, torch.cuda.synchronize, nvtx.range_push, nvtx.range_pop, given.repeat)
    steps.finish(result == BATCHES * Packed()[0].sum(dtype=torch.float64).item())


if __name__ == "__main__":
    main()
