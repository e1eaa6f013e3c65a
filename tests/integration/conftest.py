from collections.abc import Iterator

import pytest

import server_process
from server_process import ServerProcess


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """`usher serve` with its defaults; all tests share it, so its log and its counters hold what others did, too."""
    with server_process.running(tmp_path_factory.mktemp("server")) as running:
        yield running
