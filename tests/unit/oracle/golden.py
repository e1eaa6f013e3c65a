"""Answers of Kubernetes' own code, written down by tools/oracle; scripts/oracle writes them again."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parents[2] / "data" / "oracle"
_SHOWN = 8


def cases(name: str) -> list[Any]:
    """The cases of one kind, each an object with a question and its answer."""
    return [json.loads(line) for line in (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").split("\n") if line]


def assert_none(differences: Iterable[object]) -> None:
    """Fails, and shows the first few, if there is a case in which we and Kubernetes differ."""
    found = list(differences)
    shown = "".join(f"\n  {difference}" for difference in found[:_SHOWN])
    assert not found, f"{len(found)} cases differ from what Kubernetes answers, for example{shown}"
