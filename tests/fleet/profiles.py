"""Profile files for simulated fleets, one per rank. Ranks differ a little, and one part may be slow."""

import json
import pathlib
import random
from dataclasses import dataclass

FAULTS = ("none", "link", "gpu", "host")


@dataclass(frozen=True)
class Fault:
    """The slow part: its kind, and the affected ranks; of a host, all ranks on it."""

    kind: str
    ranks: tuple
    host: str = ""


def host_of(rank, ranks, hosts):
    """Ranks fill hosts in order, as with mpirun --map-by slot and equal numbers of slots."""
    return f"node{rank * hosts // ranks}"


def varied(chance, spread):
    """A normally distributed factor near 1. Values beyond two standard deviations are drawn again: they would be
    real faults."""
    while abs((factor := chance.gauss(1, spread)) - 1) > 2 * spread:
        pass
    return factor


def fleet(seed, ranks=8, hosts=2, fault="none", shortfall=0.1, spread=0.01, noise=0.005):
    """Returns the profile of each rank, and the Fault. The same seed gives the same fleet."""
    if fault not in FAULTS:
        raise ValueError(f"there is no fault {fault!r}, expected one of {', '.join(FAULTS)}")
    if not 1 <= hosts <= ranks:
        raise ValueError(f"{ranks} ranks cannot be on {hosts} hosts")
    chance = random.Random(f"{seed} {ranks} {hosts} {fault}")
    chosen = chance.randrange(ranks)
    host = host_of(chosen, ranks, hosts)
    slow = {
        "none": (),
        "link": (chosen,),
        "gpu": (chosen,),
        "host": tuple(rank for rank in range(ranks) if host_of(rank, ranks, hosts) == host),
    }[fault]
    profiles = []
    for rank in range(ranks):
        left = 1 - shortfall if rank in slow else 1
        scale = {
            # A slow GPU also slows its transfers.
            "link": varied(chance, spread) * (left if fault in ("link", "gpu") else 1),
            "gpu": varied(chance, spread) * (left if fault == "gpu" else 1),
        }
        if fault == "host":
            scale["host_memory"] = left
        profiles.append(
            {
                "schema": "xferbench-profile/1",
                "base": "h200",
                "name": f"rank-{rank}",
                "uuid": f"GPU-{chance.getrandbits(128):032x}",
                "host": host_of(rank, ranks, hosts),
                "scale": {part: round(factor, 6) for part, factor in scale.items()},
                "noise": noise,
                "seed": chance.randrange(1 << 32),
                "clock": {"offset": round(chance.uniform(-0.5, 0.5), 6), "drift": round(chance.gauss(0, 1e-5), 9)},
            }
        )
    return profiles, Fault(fault, slow, host if fault == "host" else "")


def write(folder, profiles):
    """Writes FOLDER/rank-0.json, ..., for `mpirun -n 8 xferbench --simulate FOLDER/rank-%r.json`."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank, profile in enumerate(profiles):
        (folder / f"rank-{rank}.json").write_text(json.dumps(profile, indent=2) + "\n", encoding="utf-8")
