"""Attacks of tenants, as manifests: the webhooks mutate and then judge each as the API server would send it.

Every file of tests/data/attacks begins with comments. They say what the attack is, and one of these:

* `Denied by`: the codes of the checks that refuse it, and no others refuse it.
* `Mended by`: the names of mutations that take the effect away; the object is let in.
* `Not stopped`: why admission cannot stop it.

The first document is what a tenant sends: an object to create, or an AdmissionReview. The others are objects of the
cluster. usher.yaml beside them is the site, and `agents` holds drivers and exporters of that site, which must run.
"""

import base64
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonpatch
import orjson
import pytest
import record_findings
import yaml

from reviews import body
from unit.review.answering import answered
from usher import paths
from usher.cluster.facts.store import Store
from usher.config import load
from usher.policy.evaluator import Evaluator
from usher.review import webhooks

FOLDER: Final = Path(__file__).parents[1] / "data" / "attacks"
FILES: Final = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "usher.yaml")
TENANT: Final = {"username": "anna@example.com", "groups": ["team-nlp", "system:authenticated"]}
VERDICTS: Final = ("Denied by", "Mended by", "Not stopped")


class Attack(NamedTuple):
    says: dict[str, str]
    """The comments at the top, by the words before their colons."""
    request: dict[str, Any]
    known: list[paths.Object]


@cache
def attack(path: Path) -> Attack:
    text = path.read_text(encoding="utf-8")
    comment = re.match(r"(?:#.*\n)+", text)
    assert comment is not None, f"{path.name} does not say what the attack is"
    lines = re.sub(r"\n#  +", " ", comment.group()).splitlines()
    says = dict(line.removeprefix("# ").split(": ", 1) for line in lines)
    sent, *known = yaml.safe_load_all(text)
    if sent["kind"] == "AdmissionReview":
        return Attack(says, sent["request"], known)
    return Attack(says, {"operation": "CREATE", "object": sent}, known)


def evaluator(found: Attack) -> Evaluator:
    """An evaluator of the site, which knows the cluster of an attack."""
    return record_findings.evaluator_with(load.load(FOLDER / "usher.yaml"), facts=Store.of(found.known))


def request_of(found: Attack, value: paths.Object) -> bytes:
    fields: dict[str, Any] = {
        "operation": found.request["operation"],
        "old_value": found.request.get("oldObject"),
        "userInfo": TENANT,
    }
    if "subResource" in found.request:
        fields["subResource"] = found.request["subResource"]
    return body(value, **fields)


def outcome(path: Path) -> tuple[set[str], set[str], bool]:
    """The codes of the checks that deny an attack, the mutations that change it before, and whether it is let in."""
    found = attack(path)
    judge = evaluator(found)
    value = found.request["object"]
    mutated = webhooks.mutate(request_of(found, value), judge)
    response = answered(mutated)
    if "patch" in response:
        value = jsonpatch.JsonPatch(orjson.loads(base64.b64decode(response["patch"]))).apply(value)
    answer = webhooks.validate(request_of(found, value), judge)
    by_name = {entry.name: entry.code for entry in judge.catalogue.checks.values()}
    denying = {by_name[name] for name, outcome in answer.outcomes.items() if outcome == "deny"}
    return denying, set(mutated.mutations), answer.allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_attack_has_the_end_that_its_manifest_tells(path: Path) -> None:
    says = attack(path).says
    denying, mutations, allowed = outcome(path)

    assert denying == set(filter(None, says.get("Denied by", "").split(", ")))
    assert allowed == ("Denied by" not in says)
    assert set(filter(None, says.get("Mended by", "").split(", "))) <= mutations


def test_each_manifest_tells_the_attack_and_one_end() -> None:
    for path in FILES:
        says = attack(path).says

        assert says["Attack"].endswith("."), path.name
        assert Counter(key in VERDICTS for key in says) == {True: 1, False: 1}, path.name


@pytest.mark.parametrize("path", sorted(FOLDER.glob("agents/*.yaml")), ids=lambda path: path.stem)
def test_the_agents_of_the_site_are_let_in_unchanged(path: Path) -> None:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    judge = evaluator(Attack({}, {}, []))
    sent = body(value, userInfo=TENANT)

    assert webhooks.validate(sent, judge).allowed
    assert webhooks.mutate(sent, judge).mutations == ()


def test_there_are_forty_attacks_that_admission_refuses() -> None:
    refused = [path for path in FILES if "Denied by" in attack(path).says]

    assert len(refused) >= 40
