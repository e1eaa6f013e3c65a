import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import browser
import opa_server
import server_process
from integration import api_server
from integration.api_server import ApiServer
from integration.command import Run, usher
from integration.work_tree import Git
from server_process import ServerProcess


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """`usher serve` with its defaults; all tests share it, so its log and its counters hold what others did, too."""
    with server_process.running(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser that the tests of a module share."""
    with browser.started() as found:
        yield found


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """It serves pods, and what a test adds."""
    with api_server.running() as server:
        server.serve_kind("v1", "pods")
        yield server


@pytest.fixture
def kubeconfig(api: ApiServer, tmp_path: Path) -> Path:
    return api_server.kubeconfig(tmp_path / "kubeconfig", api.url)


@pytest.fixture
def run_in(tmp_path: Path) -> Any:
    """Runs usher in the folder of the test, with the opa of the tools or another one."""

    def run(*arguments: str | Path, opa: str | Path = opa_server.OPA) -> Run:
        return usher(*arguments, cwd=tmp_path, env={"USHER_OPA": str(opa)})

    return run


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def git(work: Path) -> Git:
    """Runs git in a new repository with one commit."""

    def run(*arguments: str) -> str:
        options = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *options, *arguments], cwd=work, capture_output=True, text=True, check=True)
        return done.stdout

    run("init", "--quiet")
    run("commit", "--quiet", "--allow-empty", "--message=first")
    return run
