"""What holds for all tests."""

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

pytest_plugins = ["shared_tests"]

# A deadline would be a timed assertion: other tests run at the same time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


class OneControlPlane(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """All tests with a real API server in one process, so that there is one; every other test wherever there is room.

    `--dist=loadgroup` would do it by marks, but xdist 3.8 does not see marks with pytest 9.2
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        return "tests/e2e" if nodeid.startswith("tests/e2e/") else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneControlPlane:
    """Asked by xdist where tests run in several processes."""
    return OneControlPlane(config, log)
