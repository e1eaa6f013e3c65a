"""usher.yaml bounds the end of jobs and of their pods, and rules see it."""

from typing import Any

import pydantic
import pytest

from usher.config import models, sections


def entry(**values: Any) -> sections.Lifecycle:
    return models.Config.model_validate({"lifecycle": [values]}).lifecycle[0]


def test_nothing_is_set_by_default() -> None:
    assert models.Config().lifecycle == []


def test_a_signal_becomes_a_command_that_waits() -> None:
    found = entry(terminationGracePeriod="10m", preStop={"signal": "USR1", "wait": "5m"})

    assert found.pre_stop is not None
    assert sections.command_of(found.pre_stop) == ["/bin/sh", "-c", "kill -USR1 1; sleep 300"]


def test_a_signal_need_not_wait() -> None:
    found = entry(preStop={"signal": "INT"})

    assert found.pre_stop is not None
    assert sections.command_of(found.pre_stop) == ["/bin/sh", "-c", "kill -INT 1"]


def test_a_command_stays_as_it_is() -> None:
    found = entry(preStop={"command": ["/save", "; rm -rf /"]})

    assert found.pre_stop is not None
    assert sections.command_of(found.pre_stop) == ["/save", "; rm -rf /"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"terminationGracePeriod": "30s"}, "usher never lowers it"),
        ({"preStop": {"signal": "USR1", "wait": "30s"}}, "never gets SIGTERM"),
        ({"terminationGracePeriod": "5m", "preStop": {"signal": "USR1", "wait": "5m"}}, "never gets SIGTERM"),
        ({"preStop": {}}, "preStop does one thing"),
        ({"preStop": {"signal": "USR1", "command": ["/save"]}}, "preStop does one thing"),
        ({"preStop": {"command": ["/save"], "wait": "5s"}}, "wait belongs to signal"),
        ({"preStop": {"command": []}}, "at least 1 item"),
        ({"preStop": {"signal": "KILL"}}, "Input should be"),
        ({"preStop": {"signal": "USR1 1; reboot"}}, "Input should be"),
        ({"deadline": "0s"}, "pattern"),
    ],
)
def test_what_would_harm_the_pods_is_refused(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=reason):
        entry(**values)
