"""The benchmark of reviews beside Gatekeeper and Kyverno: equal rules, and the parts of a review."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import structlog

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def loaded() -> Iterator[tuple[ModuleType, ModuleType]]:
    """`fresh` and `review_parts`, which find each other in their folder, as scripts/bench runs them.

    The second configures the log, as a server does.
    """
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("fresh"), importlib.import_module("review_parts")
    structlog.reset_defaults()
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == BENCHMARKS:
            del sys.modules[name]


@pytest.mark.parametrize("kind", ["read", "names", "job"])
def test_the_five_rules_of_usher_find_the_wrong_pods_and_no_other(
    loaded: tuple[ModuleType, ModuleType], kind: str
) -> None:
    fresh, _ = loaded
    evaluator = fresh.assembly.embedded(fresh.configuration("benchmarks/peers/usher.yaml"))
    bodies = fresh.bodies("", "ml-research", "", kind, 40)["/validate"]

    found = [place for place, body in enumerate(bodies) if fresh.webhooks.validate(body, evaluator).outcomes]

    evaluator.engine.close()
    assert found == [9, 19, 29, 39]


def test_each_part_of_a_fresh_review_takes_time_and_a_remembered_one_asks_no_engine(
    loaded: tuple[ModuleType, ModuleType],
) -> None:
    fresh, review_parts = loaded
    bodies = fresh.bodies("", "ml-research", "", "read", fresh.WARM + 4)["/validate"]

    evaluator, clock = fresh.assembly.embedded(fresh.configuration("")), review_parts.Clock()

    with review_parts.counting(clock):
        for body in bodies * 2:
            fresh.webhooks.validate(body, evaluator)
        once = clock.parts()
        for body in bodies:
            fresh.webhooks.validate(body, evaluator)
    again = clock.parts()

    evaluator.engine.close()
    in_server = {"log", "metrics"}
    assert {part for part, seconds in once.items() if seconds <= 0} == in_server
    assert {part for part in again if again[part] == once[part]} == {*in_server, "document", "engine"}


def test_a_peer_is_built_once_in_the_folder_of_its_own_module_whose_replace_lines_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module, calls = tmp_path / "module", tmp_path / "calls"
    (module / "config/crds/some").mkdir(parents=True)
    (module / "config/crds/some/policies.yaml").write_text("kind: CustomResourceDefinition\n")
    go = tmp_path / "go"
    go.write_text(
        f'#!/bin/sh\necho "$1 in $PWD" >>{calls}\n'
        f'[ "$1" = mod ] && echo \'{{"Dir": "{module}"}}\' && exit\n'
        'while [ "$1" != -o ]; do shift; done\necho "$3" >"$2"\n'
    )
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(BENCHMARKS)
    built_peers = importlib.import_module("built_peers")
    monkeypatch.delitem(sys.modules, "built_peers")
    monkeypatch.setattr(built_peers, "FOLDER", tmp_path / "peers")

    programs = [built_peers.peer("kyverno") for _ in range(2)]

    assert programs == [str(tmp_path / "peers/kyverno")] * 2
    assert (tmp_path / "peers/kyverno").read_text() == "./cmd/kyverno\n"
    assert [each.name for each in built_peers.definitions("kyverno").iterdir()] == ["policies.yaml"]
    assert calls.read_text().splitlines() == [f"mod in {Path.cwd()}", f"build in {module}"]
