"""How long a preStop hook sleeps, by its field or by a plain command."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import pod_set, unknowns
from usher import paths

FOR_EVER = 10**9


def before_stop(hook: paths.Json) -> paths.Object:
    return builders.pod(builders.container(lifecycle={"preStop": hook}))


def slept(hook: paths.Json) -> int:
    (found,) = pod_set(before_stop(hook)).containers
    seconds: int = found.fields["lifecycle"]["preStop"]["sleepSeconds"]
    return seconds


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        (["sleep", "60"], 60),
        (["/usr/bin/sleep", "1.5m"], 60),
        (["sleep", "2h"], 7200),
        (["sh", "-c", "sleep 10; sleep 20"], 30),
        (["sh", "-c", "drain&&sleep 1d"], 86400),
        (["sh", "-c", "sleep infinity"], FOR_EVER),
        (["sh", "-c", "sleep inf"], FOR_EVER),
        (["sh", "-c", "sleep 999999999d"], FOR_EVER),
        (["sh", "-c", "sleep $TIME"], 0),
        (["sh", "-c", "nosleep 60"], 0),
        (["sh", "-c", "sleep 60x"], 0),
        (["drain", "--for", "60"], 0),
        ([], 0),
    ],
)
def test_a_plain_command_tells_the_time(command: list[str], seconds: int) -> None:
    assert slept({"exec": {"command": [*command]}}) == seconds


def test_the_field_tells_the_time() -> None:
    assert slept({"sleep": {"seconds": 90}}) == 90


def test_a_hook_of_another_type_does_not_sleep() -> None:
    assert slept({"httpGet": {"path": "/drain", "port": 80}}) == 0


def test_only_the_time_leaves_the_manifest() -> None:
    hook: Any = {"exec": {"command": ["sh", "-c", "TOKEN=secret drain"]}, "sleepSeconds": 5}
    (found,) = pod_set(before_stop(hook)).containers

    assert found.fields["lifecycle"] == {"preStop": {"sleepSeconds": 0}}


def test_a_very_long_command_is_read_in_part() -> None:
    assert slept({"exec": {"command": ["sh", "-c", "true; " * 10_000 + "sleep 60"]}}) == 0


@pytest.mark.parametrize("hook", [{"sleep": {"seconds": "60"}}, {"exec": {"command": "sleep 60"}}, "sleep"])
def test_a_hook_of_a_wrong_type_is_unknown(hook: paths.Json) -> None:
    ((path, _),) = unknowns(before_stop(hook))

    assert path.startswith("/spec/containers/0/lifecycle/preStop")
