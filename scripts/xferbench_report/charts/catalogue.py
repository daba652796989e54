"""Which charts a scenario has."""

from . import dynpar, general, latency, memcpy, overlap, smem, tune

SPECIAL = {
    "memcpy": memcpy.charts,
    "overlap": overlap.charts,
    "smem": smem.charts,
    "dynpar": dynpar.charts,
    "latency": latency.charts,
}
HEADLINES = {"overlap": overlap.HEADLINE}  # of files that are older than declarations


def of_scenario(scenario, runs):
    """Those that say most come first; the last shows every case, whatever the scenario is."""
    shown = [run for run in runs if run.of(scenario)]
    if not shown:
        return []
    own = SPECIAL.get(scenario, lambda some: general.over_size(scenario, some))
    first, last = tune.charts(scenario, shown)
    return first + own(shown) + last + general.overview(scenario, shown)
