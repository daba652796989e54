"""Files of simulated fleets, as the program writes them, for tests: ranks differ by less than one percent."""

import copy

from support import case, measurement, results

DECLARED = [
    {"name": "copy", "kind": "measurement", "unit": "s", "better": "lower", "headline": True, "heading": "time",
     "format": "seconds", "help": "a copy"},
    {"name": "bandwidth", "kind": "metric", "unit": "GB/s", "better": "higher", "headline": False, "heading": "GB/s",
     "format": "number", "help": "payload over time"},
]
SIZE = 1 << 28


def rank(number, per_node):
    gpu = {"name": "NVIDIA Test", "index": number % per_node, "uuid": f"GPU-{number}", "numa_node": number % 2,
           "pcie": {"generation": 5, "width": 16, "source": "profile"}}
    environment = {"backend": "simulated", "profile": "h200", "gpu": gpu, "host": {}, "variables": {}}
    node, local = divmod(number, per_node)
    return {"rank": number, "node": node, "local_rank": local, "host": f"node{node}", "tool": "0.1.0",
            "environment": environment}


def result(number, direction="h2d", pace="all", rate=None, turn=1):
    rate = rate or 55 * (1 + 0.001 * (number * 7 % 9 - 4))
    copy = measurement(median=SIZE / rate * 1e-9)
    where = {"rank": number, "pace": pace, "round": turn, "path": "link", "clocks_off_by": 1e-6, "void_passes": 0,
             "late_passes": 0}
    return case("memcpy", {"dir": direction, "size": SIZE}, [copy], {"bandwidth": (rate, "GB/s")}, fleet=where)


def file(nodes=2, per_node=4, directions=("h2d", "d2h"), paces=("all",), slow=None, missing=()):
    """`slow` is a rank whose link has nine tenths of its rate; what is missing has measured nothing."""
    count = nodes * per_node
    cases = [
        result(number, direction, pace, 49.5 if number == slow else None)
        for pace in paces
        for direction in directions
        for number in range(count)
        if number not in missing
    ]
    shown_in = [f"{one['key']} pace={one['fleet']['pace']}" for one in cases if one["fleet"]["rank"] == slow]
    flagged = [] if slow is None else [
        {"what": "link", "ranks": [slow], "name": f"link of rank {slow}", "shortfall": 0.1, "tests": shown_in,
         "text": f"the link of rank {slow} is 10 % below the middle of its group"}
    ]
    fleet = {"mpi": "Open MPI 4.1.4", "clocks_off_by": 1e-6, "missing": list(missing), "flagged": flagged,
             "differences": ["ranks differ in their driver: 1 on rank 0, 2 on rank 1"],
             "notes": ["groups are small"], "ranks": [rank(number, per_node) for number in range(count)]}
    return results(cases, simulated=True, fleet=fleet, metrics_declared={"memcpy": DECLARED})


def transfers(rounds=1):
    """Of two nodes with four ranks each: in each round a rank receives from another one, from another node a fifth as
    fast."""
    value = file(directions=("h2d",))
    once, value["results"] = value["results"], []
    for turn in range(1, rounds + 1):
        for one in copy.deepcopy(once):
            to = one["fleet"]["rank"]
            sender = (to - turn) % 8
            one["key"] = one["key"].replace("memcpy", f"memcpy/round={turn}")
            one["labels"] = {"from": str(sender), "to": str(to)}
            one["metrics"]["bandwidth"]["value"] = 50.0 if sender // 4 == to // 4 else 10.0
            value["results"].append(one)
    return value
