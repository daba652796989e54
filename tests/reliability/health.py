"""Health records of each case, and corruption during timed passes; shown by tests of the simulated device."""

from .simulated import tested
from .support import Figure

TITLE = "health beside each case"

OF_HEALTH = "*Health*"
OF_TIMED_PASSES = "PassChecksOnSim.*"
OF_THEIR_SHARE = "PassChecksOnSim.FindWhatever*"  # the ordinary tests run the others


def health_is_beside_each_case(setting):
    health, passes = tested(setting, OF_HEALTH), tested(setting, setting.number(OF_TIMED_PASSES, OF_THEIR_SHARE))
    enough = passes.injected > 0 and passes.found >= 0.99 * passes.injected
    return [
        Figure("ECC, Xid, replays, link, throttling before and after; a change is a flag", health.shown, health.holds),
        Figure(
            "99 % of corruption in verified timed passes found",
            f"{passes.found} of {passes.injected}; {passes.shown}",
            passes.holds and enough,
        ),
    ]
