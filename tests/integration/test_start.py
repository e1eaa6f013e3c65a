"""A small run of `usher check` imports and makes little before it can judge: that takes most of its time."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from integration import command

_CODE = """
import atexit, gc, json, sys

def tell():
    standard = [
        f"{module}.{name}"
        for module, content in sorted(sys.modules.items()) if module.startswith("usher.")
        for name, value in sorted(vars(content).items())
        if isinstance(value, type) and value.__module__ == module
        and "__dataclass_params__" in vars(value) and value.__dataclass_params__.frozen
    ]
    of_usher = [vars(content) for module, content in sys.modules.items() if module.startswith("usher.")]
    patterns = [vars(each) for held in of_usher for each in held.values() if type(each).__name__ == "_Pattern"]
    found = {"modules": sorted(sys.modules), "standard": standard, "collections": len(collections)}
    found |= {"patterns": len(patterns), "compiled": sum("search" in each for each in patterns)}
    json.dump({**found, "left": len(gc.get_objects())}, sys.stderr)

atexit.register(tell)
from usher.cli import main
collections = []
gc.callbacks.append(lambda phase, _: collections.append(phase))
main.main(sys.argv[1:])
"""

_PLAIN = """\
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: research}
spec:
  containers:
    - name: trainer
      image: registry.example.com/trainer:2.1
      resources:
        limits: {nvidia.com/gpu: 1}
"""
"""A Pod that the webhook changes."""

_STANDARD = ["Knowledge", "_Question", "_GangQuestion", "_Question", "Amount", "Gang"]
"""Classes with a field that is not compared or not shown, and what a saved verdict holds."""

_SERVERS_AND_AUDITS = ("asyncio", "cryptography", "fastapi", "kubernetes", "pygls", "requests", "ssl", "uvicorn")
_OTHER_RUNS = (
    "multiprocessing",  # many files
    "sqlite3",  # many files
    "yaml",  # what is not written plainly
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "pod.yaml"
    made.write_text(_PLAIN)
    return made


def after(*arguments: str | Path) -> Any:
    """The modules and objects after a command in its own process, which coverage does not follow: it imports much."""
    variables = {name: value for name, value in command.environment().items() if "COVERAGE_" not in name}
    done = subprocess.run(
        [sys.executable, "-c", _CODE, *map(str, arguments)],
        capture_output=True,
        env=variables,
        check=False,
    )
    return orjson.loads(done.stderr.splitlines()[-1])


@pytest.mark.process
@pytest.mark.parametrize("report", ["text", "json"])
def test_a_plain_file_is_judged_without_what_other_runs_need(file: Path, report: str) -> None:
    found = after("check", file, "--format", report)["modules"]

    assert [name for name in (*_SERVERS_AND_AUDITS, *_OTHER_RUNS) if name in found] == []
    assert ("rich" in found) is (report == "text")


@pytest.mark.process
def test_the_version_needs_no_library_of_values() -> None:
    found = after("--version")["modules"]

    assert [name for name in ("dataclasses", "msgspec") if name in found] == []


@pytest.mark.process
def test_values_are_structs(file: Path) -> None:
    """The decorator of the standard library compiles six functions for each class; some need what only it can do."""
    found = after("check", file)["standard"]

    assert [name.rpartition(".")[2] for name in found] == _STANDARD


@pytest.mark.process
def test_nothing_is_collected(file: Path) -> None:
    """A collection would visit all that was imported, and find nothing; so would the one at the end of Python."""
    found = after("check", file)

    assert found["collections"] == 0
    assert found["left"] < 1_000


@pytest.mark.process
def test_most_patterns_are_not_compiled_for_a_plain_file(file: Path) -> None:
    found = after("check", file)

    assert found["compiled"] < found["patterns"] / 4


_SERVER = "import sys; import usher.cli.serve, usher.server.serve; print(*sys.modules)"


@pytest.mark.process
def test_a_server_without_a_cluster_and_a_portal_needs_neither_their_client_nor_their_framework() -> None:
    done = subprocess.run([sys.executable, "-c", _SERVER], capture_output=True, check=True, text=True)

    assert {"fastapi", "kubernetes", "requests"}.isdisjoint(done.stdout.split())
