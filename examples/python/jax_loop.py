"""JAX: 48 batches of 4 MiB go to the GPU and through a compiled function.

The fault: `float` of each result waits for the GPU, so that the next batch is only then prepared and copied.
--mended: the results stay on the GPU, and JAX runs ahead; one wait at the end.
"""

import jax
import jax.numpy as jnp
import numpy
import steps

BATCHES, ROWS, WIDTH, LAYERS = 48, 1024, 1024, 4


@jax.jit
def network(batch, weights):
    for weight in weights:
        batch = jnp.tanh(batch @ weight)
    return batch.sum()


def slow(batches, weights):
    return [float(network(jax.device_put(batch), weights)) for batch in batches]


def mended(batches, weights):
    results = [network(jax.device_put(batch), weights) for batch in batches]
    return [float(result) for result in jax.block_until_ready(results)]


def right(batches, weights, results):
    """Of the first and the last batch; the GPU's matrix units round their operands."""
    for batch, result in ((batches[0], results[0]), (batches[-1], results[-1])):
        for weight in weights:
            batch = numpy.tanh(batch @ numpy.asarray(weight))
        if abs(result - batch.sum()) > 1e-2 * numpy.abs(batch).sum():
            return False
    return len(results) == BATCHES


def main():
    given = steps.arguments(__doc__.splitlines()[0])
    random = numpy.random.default_rng(1)
    batches = [random.standard_normal((ROWS, WIDTH), numpy.float32) for _ in range(BATCHES)]
    weights = [jax.device_put(random.standard_normal((WIDTH, WIDTH), numpy.float32) / 32) for _ in range(LAYERS)]
    compute = mended if given.mended else slow
    ranges = steps.Ranges()
    # What the stretch returns are numbers of the host: there is nothing left to wait for.
    results = steps.measure(lambda: compute(batches, weights), lambda: None, ranges.push, ranges.pop, given.repeat)
    steps.finish(right(batches, weights, results))


if __name__ == "__main__":
    main()
