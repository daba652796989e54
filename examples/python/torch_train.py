"""PyTorch: a small network is trained with 24 batches of 16 MiB.

The fault: each batch is copied from ordinary memory, which blocks the host; and `loss.item()` in each step makes it
wait for all that the step is, backward pass and optimizer included, only to write down a number. So the GPU has nothing
to do while the next batch is copied aside.
--mended: the batches are pinned, once; copies are non-blocking; the losses stay on the GPU until the end.
"""

import steps
import torch
from torch import nn

BATCHES, ROWS, WIDTH, CLASSES = 24, 4096, 1024, 16


class Training:
    """The labels are such that there is something to learn."""

    def __init__(self, pinned):
        torch.manual_seed(1)
        self.model = nn.Sequential(
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, CLASSES),
        ).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.3)
        self.loss = nn.CrossEntropyLoss()
        self.batches = [self.batch(pinned) for _ in range(BATCHES)]

    @staticmethod
    def batch(pinned):
        inputs = torch.randn(ROWS, WIDTH)
        labels = inputs[:, :CLASSES].argmax(1)
        return (inputs.pin_memory(), labels.pin_memory()) if pinned else (inputs, labels)

    def step(self, inputs, labels):
        self.optimizer.zero_grad()
        loss = self.loss(self.model(inputs), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def slow(self):
        return [self.step(inputs.to("cuda"), labels.to("cuda")).item() for inputs, labels in self.batches]

    def mended(self):
        losses = [
            self.step(inputs.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True))
            for inputs, labels in self.batches
        ]
        return torch.stack(losses).tolist()


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    training = Training(pinned=given.mended)
    first = training.step(*(part.to("cuda") for part in training.batches[0])).item()
    stretch = training.mended if given.mended else training.slow
    nvtx = torch.cuda.nvtx
    losses = steps.measure(stretch, torch.cuda.synchronize, nvtx.range_push, nvtx.range_pop, given.repeat)
    steps.finish(len(losses) == BATCHES and sum(losses) / BATCHES < first)


if __name__ == "__main__":
    main()
