"""Every denial of the preset `recommended` among our manifests is listed, with why it is right.

A denial that is not in the list is either a false one, to be mended in the check, or is added with its reason.
"""

import io
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import shared_files
from shared_files import Corpus
from usher import model
from usher.check import sources
from usher.config import models
from usher.kinds.reading import values
from usher.policy import assembly
from usher.policy.decision import Request

LISTED = Path(__file__).parents[1] / "data/policies/corpus_denials"

pytestmark = [pytest.mark.parametrize("corpus", shared_files.corpora), pytest.mark.costly]


@cache
def listed(corpus: Corpus) -> Any:
    return yaml.safe_load((LISTED / f"{corpus.name}.yaml").read_text())


@cache
def denials(corpus: Corpus) -> dict[str, list[str]]:
    """Checks that deny something, by file."""
    evaluator = assembly.embedded(models.Config())
    found: dict[str, set[str]] = defaultdict(set)
    for batch in sources.read([str(corpus.folder)], stdin=io.BytesIO()):
        objects = values.Objects((item.value for item in batch.items), namespace="default")
        for item in batch.items:
            request = Request(value=item.value, namespace="default", objects=objects, place="check")
            for judgement in evaluator.decide(request).judgements:
                if judgement.outcome is model.Outcome.DENY:
                    found[str(Path(batch.source).relative_to(corpus.folder))].add(f"{judgement.code} {judgement.name}")
    return {file: sorted(checks) for file, checks in sorted(found.items())}


def test_every_denial_of_a_manifest_is_listed(corpus: Corpus) -> None:
    assert denials(corpus) == {file: sorted(checks) for file, checks in sorted(listed(corpus)["denials"].items())}


def test_no_denial_is_wrong_and_each_says_why(corpus: Corpus) -> None:
    verdicts = [verdict for checks in listed(corpus)["denials"].values() for verdict in checks.values()]

    assert all(verdict["right"] is True and verdict["why"].strip() for verdict in verdicts)


def test_denials_that_were_wrong_do_not_come_back(corpus: Corpus) -> None:
    returned = [
        (file, check)
        for check, mended in listed(corpus)["mended"].items()
        for file in mended["files"]
        if check in denials(corpus).get(file, []) and check not in listed(corpus)["denials"].get(file, {})
    ]

    assert returned == []
