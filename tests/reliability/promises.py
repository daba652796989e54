"""All promises in the order of docs/reliability.md, with their names in scripts/promises."""

from typing import Callable, NamedTuple

from . import device_faults, faults, health, hostile_input, replacement, resume, standard_error, watchdog


class Promise(NamedTuple):
    title: str
    show: Callable


ALL = {
    "standard-error": Promise(standard_error.TITLE, standard_error.standard_error_is_never_fatal),
    "replacement": Promise(replacement.TITLE, replacement.files_are_replaced_safely),
    "resume": Promise(resume.TITLE, resume.resume_keeps_its_word),
    "faults": Promise(faults.TITLE, faults.faults_are_swept),
    "watchdog": Promise(watchdog.TITLE, watchdog.watchdog_ends_a_stuck_gpu),
    "device-faults": Promise(device_faults.TITLE, device_faults.device_faults_are_survived),
    "health": Promise(health.TITLE, health.health_is_beside_each_case),
    "hostile-input": Promise(hostile_input.TITLE, hostile_input.hostile_input_is_bounded),
}
