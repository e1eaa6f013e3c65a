"""Fixtures and hooks of all tests."""

import gc
import os
import sys
from collections.abc import Generator
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from coverage import Coverage
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

import forked_server
import generated_examples
from usher.policy.checks import catalogue
from usher.workloads import identity

pytest_plugins = ["folded_cases", "shared_tests"]

# pytest keeps tens of thousands of objects for each run, which frequent collections would look at again and again: a
# fifth of the time of collecting and running small tests.
gc.set_threshold(20_000, 20, 100)

_POLICIES: Final = catalogue.find()
_load: Final = catalogue.load
_load_own: Final = cache(_load)


def _load_once(directory: Path | None = None) -> catalogue.Bundle:
    """The bundle of a directory; that of usher is read once, as no test changes it.

    To read and verify its 400 files takes half of the time of a small command.
    """
    directory = directory or catalogue.find()
    return _load_own(directory) if directory == _POLICIES else _load(directory)


catalogue.load = _load_once


def _read(stream: Any) -> Any:
    """As yaml.safe_load, by libyaml, which reads the same many times faster than the parser in Python."""
    return yaml.load(stream, yaml.CSafeLoader)


def _read_all(stream: Any) -> Any:
    return yaml.load_all(stream, yaml.CSafeLoader)


yaml.safe_load, yaml.safe_load_all = _read, _read_all

# A deadline would be a timed assertion: other tests run at the same time. CI tries the same examples for each change,
# so that it judges the change; other runs look for new ones, and `scripts/test --thorough` looks longest.
settings.register_profile("change", deadline=None, max_examples=15, derandomize=bool(os.environ.get("CI")))
settings.register_profile(generated_examples.THOROUGH, deadline=None, max_examples=500)
settings.load_profile("change")


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of any size are read: for bounds within usher that only too large objects reach."""
    monkeypatch.setattr(identity, "excess", lambda _value: None)


# Coverage has a lock. A process that is forked while a thread of its parent holds it would wait for it for ever, and
# what it runs is not measured anyway.
os.register_at_fork(after_in_child=partial(sys.settrace, None))

_E2E: Final = "tests/e2e"
_SECOND_SERVER: Final = f"{_E2E}/test_p"
"""Modules from this name on share an API server, those before it another one: one process waits half of its time."""

_OWN_SERVER: Final = f"{_E2E}/own_server"
"""Modules here start an API server of their own, so each of them may run in any process."""

_COVERAGE_OF_PROCESSES: Final = "COVERAGE_PROCESS_CONFIG"
"""The variable by which `patch = subprocess` measures processes."""


class TwoControlPlanes(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Runs the tests that share a real API server in one process each, and each other module in one process too.

    The tests with an API server take longest, so they start first: those that share one, then the modules with one of
    their own. After them come the modules with the most tests. A module is never split: the scheduler looks through
    all its pieces after each test.

    `--dist=loadgroup` would do it by marks, but xdist 3.8 does not see marks with pytest 9.2
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        if not module.startswith(f"{_E2E}/") or module.startswith(f"{_OWN_SERVER}/"):
            return module
        return _E2E if module < _SECOND_SERVER else f"{_E2E} (second)"

    def _assign_work_unit(self, node: WorkerController) -> None:
        for scope in sorted((each for each in self.workqueue if each.startswith(_E2E)), reverse=True):
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked `slow`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what takes minutes, unless it is asked for."""
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    """Takes modules and tests out of all later collections of garbage: they stay until the end of the process."""
    gc.freeze()


def pytest_unconfigure() -> None:
    forked_server.end()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> TwoControlPlanes:
    """Asked by xdist where tests run in several processes."""
    return TwoControlPlanes(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Stops measuring coverage for thorough tests and those with an API server, and in the processes that they start.

    They would take up to three times as long, for lines that other tests run too. A process on a full disk cannot
    write what it has measured.
    """
    coverage = Coverage.current()
    is_long = item.get_closest_marker("thorough") or item.nodeid.startswith(f"{_E2E}/")
    if coverage is None or not (is_long or item.get_closest_marker("full_disk")):
        return (yield)
    if is_long:
        coverage.stop()
    in_processes = os.environ.pop(_COVERAGE_OF_PROCESSES, None)
    try:
        return (yield)
    finally:
        if in_processes is not None:
            os.environ[_COVERAGE_OF_PROCESSES] = in_processes
        if is_long:
            coverage.start()
