"""Files of runs on several GPUs, as the program writes them, for tests."""

import itertools

from support import case, measurement, results

SOCKET = 4  # GPUs of one node


def machine(count):
    """What a file says of so many GPUs that reach each other by NVLink."""
    gpus = [
        {"name": "NVIDIA Test", "index": n, "uuid": f"GPU-{n}", "numa_node": n // SOCKET, "nvlinks": 18,
         "pcie": {"generation": 5, "width": 16, "source": "nvml"}}
        for n in range(count)
    ]
    links = [
        {"from": a, "to": b, "access": True, "atomics": True, "nvlinks": 18, "nvlink_bandwidth": 478.1e9}
        for a, b in itertools.permutations(range(count), 2)
    ]
    host = {"numa_node": 0}
    return {"backend": "cuda", "gpu": gpus[0], "gpus": gpus, "links": links, "host": host, "variables": {}}


def keyed(one):
    """Its key as the program writes it, with sizes in powers of 1024."""
    size = one["params"].get("size", 0)
    words = f"{size >> 20}MiB" if size >= 1 << 20 else f"{size >> 10}KiB"
    return {**one, "key": one["key"].replace(f"size={size}", f"size={words}")}


def timed(rate, size):
    """A measurement of a copy at so many GB/s."""
    return measurement(median=size / rate * 1e-9)


def pair_case(a, b, rate, direction="read", engine="ce", size=1 << 28):
    params = {"from": str(a), "to": str(b), "dir": direction, "engine": engine, "access": "peer", "size": size}
    metrics = {"bandwidth": (rate, "GB/s"), "limit": (478.1, "GB/s"), "of_limit": (rate / 478.1, "1")}
    return keyed(case("p2p", params, [timed(rate, size)], metrics, gpus=[a, b]))


def latency_case(a, b, seconds=828e-9):
    params = {"from": str(a), "to": str(b), "op": "latency"}
    return case("p2p", params, [measurement("chain", seconds * 1000)], {"latency": (seconds, "s")}, gpus=[a, b])


def p2p(count, odd=None, sizes=(1 << 28,), directions=("read", "write")):
    """All ordered pairs; `odd` is one with half the rate."""
    cases = [
        pair_case(a, b, (195.5 if (a, b) == odd else 390.3) * (1 if size > 1 << 20 else 0.1) + 0.1 * a, direction,
                  size=size)
        for direction, size in itertools.product(directions, sizes)
        for a, b in itertools.permutations(range(count), 2)
    ]
    cases += [latency_case(a, b) for a, b in itertools.permutations(range(count), 2)]
    return results(cases, environment=machine(count), command=["xferbench", "p2p"])


def group_case(gpus, pattern="h2d", each=55.25, memory="own", size=1 << 28):
    params = {"group": "+".join(map(str, gpus)), "pattern": pattern, "memory": memory, "size": size}
    rate = each * len(gpus)
    metrics = {"bandwidth": (rate, "GB/s"), "skew": (0.01, "1"), "of_alone": (each / 55.25, "1")}
    alone = [measurement("copy", 0.005 + 1e-4 * gpu, gpu=gpu) for gpu in gpus]
    own = [{"name": "gpu_bandwidth", "gpu": gpu, "value": each + 0.01 * gpu, "unit": "GB/s"} for gpu in gpus]
    measured = [timed(rate, size * len(gpus)), *alone]
    return keyed(case("together", params, measured, metrics, gpus=list(gpus), gpu_metrics=own))


def shares(count, pattern):
    """What the program concludes of every pair: those of one node share its memory."""
    return [share_of(a, b, pattern) for a, b in itertools.combinations(range(count), 2)]


def share_of(a, b, pattern):
    shared = a // SOCKET == b // SOCKET
    ratio, outcome = (0.668, "shared") if shared else (0.998, "not shared")
    metrics = {"together_over_alone": {"value": ratio, "unit": "1"}, "bandwidth": {"value": 135.0, "unit": "GB/s"}}
    labels = {"pattern": pattern, "a": str(a), "b": str(b), "outcome": outcome}
    sentence = f"{pattern}: {a} and {b} share {'a' if shared else 'no'} bottleneck"
    return {"scenario": "together", "kind": "shares", "labels": labels, "metrics": metrics, "text": sentence,
            "detail": True}


def together(count, patterns=("h2d", "both")):
    cases = []
    for pattern in patterns:
        cases += [group_case([gpu], pattern) for gpu in range(count)]
        cases += [group_case(pair, pattern, 50) for pair in itertools.combinations(range(count), 2) if count > 2]
        cases.append(group_case(range(count), pattern, 45))
    findings = [one for pattern in patterns for one in shares(count, pattern)]
    findings.append({"scenario": "together", "kind": "bottleneck", "labels": {}, "metrics": {},
                     "text": "both: 0 and 1 together get 135 GB/s, alone 101 each"})
    return results(cases, environment=machine(count), command=["xferbench", "together"], findings=findings)


def timeline(gpus=2):
    """As to_chrome_trace writes it of a run on several GPUs."""
    events, key = [], "overlap/size=1MiB (simulated, SIMULATED)"
    for pid, part in enumerate([*(f"GPU {n}" for n in range(gpus)), "host"], 1):
        named = {"name": f"{part} of {key}", "case": key, "part": part}
        events.append({"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": named})
        rows = ["host calls"] if part == "host" else ["H2D", "kernel", "P2P"]
        for tid, row in enumerate(rows, 1):
            events.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": row}})
            kind = "host" if part == "host" else row
            events.append({"name": "copy", "cat": kind, "ph": "X", "pid": pid, "tid": tid, "ts": tid, "dur": 2,
                           "args": {"bytes": 4096, "stream": 0}})
    return {"traceEvents": events, "otherData": {"gpu": "NVIDIA Test", "SIMULATED": "by profile h200-x2"}}
