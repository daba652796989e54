"""Results of large fleets: the stored fleet of two hosts with its ranks repeated."""

import copy
import json

import support


def fleet(nodes, per_node=4, slow=5, missing=2):
    """Rank `slow` has 90 % of its link rate; rank `missing` has no results."""
    report = json.loads((support.RESULTS / "h200-x2-fleet-memcpy.json").read_bytes())
    place = report["fleet"]["ranks"][0]
    cases = [one for one in report["results"] if one["fleet"]["rank"] == 0]
    report["fleet"] |= {"missing": [missing], "ranks": []}
    report["results"] = []
    for rank in range(nodes * per_node):
        node, local = divmod(rank, per_node)
        here = copy.deepcopy(place) | {"rank": rank, "node": node, "local_rank": local, "host": f"node{node}"}
        here["environment"]["gpu"] |= {"index": local, "uuid": f"GPU-{rank}"}
        report["fleet"]["ranks"].append(here)
        for one in copy.deepcopy(cases) if rank != missing else ():
            one["fleet"]["rank"] = rank
            one["metrics"]["bandwidth"]["value"] *= 0.9 if rank == slow else 1 + 0.001 * (rank * 7 % 9 - 4)
            report["results"].append(one)
    flagged = {"what": "link", "ranks": [slow], "name": f"link of rank {slow}", "shortfall": 0.1,
               "tests": sorted({one["key"] for one in cases}), "text": f"the link of rank {slow} is 10 % below the others"}
    report["fleet"]["flagged"] = [flagged]
    return report
