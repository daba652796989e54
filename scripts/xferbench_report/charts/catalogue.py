"""Which charts a scenario has."""

from . import dynpar, general, gpus, headline, latency, memcpy, overlap, p2p, smem, together, tune

SPECIAL = {
    "memcpy": memcpy.charts,
    "overlap": overlap.charts,
    "smem": smem.charts,
    "dynpar": dynpar.charts,
    "latency": latency.charts,
    "p2p": p2p.charts,
    "together": together.charts,
}
_HEADLINES = {
    "memcpy": memcpy.headlines,
    "overlap": overlap.headlines,
    "smem": smem.headlines,
    "dynpar": dynpar.headlines,
    "latency": latency.headlines,
    "p2p": p2p.headlines,
    "together": together.headlines,
}
_HAS_BARS = ("together",)  # of numbers of single GPUs
ABOUT = {"overlap": overlap.HEADLINE}  # of files that are older than declarations


def of_scenario(scenario, runs):
    """Those that say most come first; a scenario without any of its own has one of its cases, whatever it is."""
    shown = [run for run in runs if run.of(scenario)]
    if not shown:
        return []
    own = SPECIAL.get(scenario, lambda some: general.over_size(scenario, some))
    first, last = tune.charts(scenario, shown)
    first += gpus.pair_matrices(scenario, shown)
    if scenario not in _HAS_BARS:
        last += gpus.numbers(scenario, shown)
    return first + own(shown) + last or general.overview(scenario, shown)


def headlines(scenario, run):
    """What readers of a scenario ask for first."""
    cases = run.of(scenario)
    own = _HEADLINES.get(scenario)
    found = own(run, cases) if own and cases else []
    return found or (headline.of_anything(cases) if cases else [])
