"""What preset `recommended` denies among manifests of public projects: every denial is listed with why it is right.

A denial that is not in the list is either a false one, to be mended in the check, or is added with its reason.
"""

import io
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from usher import model
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Request
from usher.reading import lookup
from usher.scan import sources

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
TRIAGE: Any = yaml.load((ROOT / "tests/data/policies/corpus_denials.yaml").read_bytes(), yaml.CSafeLoader)

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real manifests, ../shared/corpus, is not here"
)


@lru_cache(maxsize=1)
def denials() -> dict[str, list[str]]:
    """Checks that deny something, by file."""
    evaluator = assembly.embedded(models.Config())
    found: dict[str, set[str]] = defaultdict(set)
    for batch in sources.read([str(CORPUS)], stdin=io.BytesIO()):
        objects = lookup.Objects((item.value for item in batch.items), namespace="default")
        for item in batch.items:
            request = Request(value=item.value, namespace="default", objects=objects, place="check")
            for judgement in evaluator.decide(request).judgements:
                if judgement.outcome is model.Outcome.DENY:
                    found[str(Path(batch.source).relative_to(CORPUS))].add(f"{judgement.code} {judgement.name}")
    return {file: sorted(checks) for file, checks in sorted(found.items())}


def test_every_denial_of_a_real_manifest_is_listed() -> None:
    assert denials() == {file: sorted(checks) for file, checks in sorted(TRIAGE["denials"].items())}


def test_no_denial_is_wrong_and_each_says_why() -> None:
    verdicts = [verdict for checks in TRIAGE["denials"].values() for verdict in checks.values()]

    assert all(verdict["right"] is True and verdict["why"].strip() for verdict in verdicts)


def test_denials_that_were_wrong_do_not_come_back() -> None:
    returned = [
        (file, check)
        for check, mended in TRIAGE["mended"].items()
        for file in mended["files"]
        if check in denials().get(file, []) and check not in TRIAGE["denials"].get(file, {})
    ]

    assert returned == []
