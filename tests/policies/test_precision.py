"""Each firing of a check on a corpus has a verdict, and `recommended` has only checks that are nearly always right."""

from functools import cache
from pathlib import Path
from typing import Any

import document_precision
import pytest
import record_precision
import yaml

import shared_files
from shared_files import Corpus
from usher.policy.checks import metadata

RECORDS = Path(__file__).parents[1] / "data/policies/precision"
POLICIES = Path(__file__).parents[2] / "policies"

of_each_corpus = pytest.mark.parametrize("corpus", shared_files.corpora)


@cache
def record(corpus: Corpus) -> Any:
    return yaml.safe_load((RECORDS / f"{corpus.name}.yaml").read_text())


@cache
def firings(corpus: Corpus) -> record_precision.Firings:
    return record_precision.firings(corpus.folder)


@pytest.mark.costly
@of_each_corpus
def test_every_firing_of_a_check_has_a_verdict(corpus: Corpus) -> None:
    judged = {
        check: sorted(name for entry in entries for name in entry["objects"])
        for check, entries in record(corpus)["checks"].items()
    }

    assert {check: sorted(objects) for check, objects in sorted(firings(corpus).checks.items())} == judged


@pytest.mark.costly
@of_each_corpus
def test_the_share_of_clean_workloads_is_recorded(corpus: Corpus) -> None:
    found = firings(corpus)

    assert record(corpus)["workloads"] == {"accelerators": found.accelerator_workloads, "clean": found.clean}


@pytest.mark.parametrize("name", sorted(file.stem for file in RECORDS.glob("*.yaml")))
def test_every_verdict_has_a_reason_and_no_firing_waits_for_one(name: str) -> None:
    entries = [entry for each in document_precision.records(RECORDS)[name]["checks"].values() for entry in each]

    assert [
        entry for entry in entries if not any(entry.get(word, "").strip() for word in record_precision.VERDICTS)
    ] == []


def test_checks_that_are_often_wrong_are_not_in_recommended() -> None:
    checks = metadata.read_entries(POLICIES)["checks"]
    rows = document_precision.rows(checks, document_precision.records(RECORDS))

    low = {row.check.name for row in rows if row.share < document_precision.NEEDED and not row.check.strict_only}

    assert low == set()


def test_three_of_five_published_workloads_with_accelerators_are_clean() -> None:
    workloads = document_precision.records(RECORDS)["published"]["workloads"]

    assert workloads["clean"] / workloads["accelerators"] >= 0.6


def test_new_firings_wait_for_a_verdict_and_old_ones_leave_the_record() -> None:
    kept = {"checks": {"idle-command": [{"right": "It only sleeps.", "objects": ["a.yaml: Pod a", "b.yaml: Pod b"]}]}}
    found = record_precision.Firings(
        checks={"idle-command": frozenset({"a.yaml: Pod a", "c.yaml: Pod c"})}, accelerator_workloads=2, clean=0
    )

    assert record_precision.merged(kept, found)["checks"]["idle-command"] == [
        {"right": "It only sleeps.", "objects": ["a.yaml: Pod a"]},
        {"unjudged": "read it and give a verdict", "objects": ["c.yaml: Pod c"]},
    ]
