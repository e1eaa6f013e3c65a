"""Facts of a cluster may hold anything: what cannot be read is unknown, and never turns a workload away."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import record_findings
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import generated_examples
from usher import model, paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

POLICIES = Path(__file__).parents[2] / "policies"

STRICT: Final = models.Enforcement(preset="strict")
"""Under which all that is found is denied, but for what rests on an assumption and for what is of least weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The examples of a check, with the facts that they are for."""

    facts: list[paths.Object]
    requests: Mapping[str, Request]
    evaluator: Evaluator

    def decide(self, name: str, facts: list[paths.Object]) -> model.Decision:
        return self.evaluator.decide(replace(self.requests[name], facts=Store.of(facts)))


SITES: Final = {
    f"{folder.parts[-3]}/{folder.parts[-2]}": folder
    for folder in sorted(file.parent for file in POLICIES.glob("usher/*/*/*/examples/cluster.yaml"))
}


@cache
def site_of(key: str) -> Site:
    folder = SITES[key]
    config = record_findings.evaluator_of(folder).config
    return Site(
        facts=[each for each in yaml.load_all((folder / "cluster.yaml").read_bytes(), yaml.CSafeLoader) if each],
        requests={file.stem: record_findings.request_of(file) for file in record_findings.manifests(folder)},
        evaluator=record_findings.evaluator_with(config.model_copy(update={"enforcement": STRICT})),
    )


_FIRST: Final = {key.partition("/")[0]: key for key in reversed(SITES)}.values()
every_site = pytest.mark.parametrize(
    "key", [key if key in _FIRST else pytest.param(key, marks=pytest.mark.thorough) for key in SITES]
)
"""A change is tried with one check of each category."""

Place = tuple[str | int, ...]

UNTOUCHED: Final = {("metadata",), ("metadata", "name"), ("metadata", "namespace")}
"""Without its name an object is another one, or none; just so without its kind."""


def places(value: paths.Json, at: Place = ()) -> Iterator[Place]:
    """Every place of an object that says something beside what it is."""
    if at and at not in UNTOUCHED and at[0] not in ("apiVersion", "kind"):
        yield at
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*at, index))


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def with_value(value: paths.Object, place: Place, new: paths.Json) -> paths.Object:
    result = copy.deepcopy(value)
    at(result, place[:-1])[place[-1]] = new
    return result


FIELDS: Final = (
    *(("spec", name) for name in ("cohort", "cohortName", "parent", "parentName", "stopPolicy", "scopes", "queue")),
    *(("spec", name) for name in ("namespaceSelector", "resourceGroups", "tolerations", "nodeTaints", "nodeLabels")),
    *(("spec", name) for name in ("topologyName", "minMember", "capability", "taints", "limits", "scopeSelector")),
    *(("globalDefault",), ("preemptionPolicy",), ("value",), ("overhead",), ("scheduling",)),
    *(("metadata", "labels"), ("metadata", "deletionTimestamp"), ("status", "conditions"), ("status", "state")),
)
"""Fields of some kinds of facts that most examples leave out."""


def with_field(value: paths.Object, place: Place, new: paths.Json) -> paths.Object | None:
    """The object with a field that it does not have; None where it has it, or nothing around it."""
    try:
        holder = at(value, place[:-1])
    except KeyError:
        return None
    if not isinstance(holder, dict) or place[-1] in holder:
        return None
    return with_value(value, place, new)


AMOUNTS: Final = {"nominalQuota", "borrowingLimit", "lendingLimit", "hard", "default", "allocatable", "capability"}
"""Fields that hold a quantity, or several by name."""


def wrong(value: paths.Json, place: Place) -> list[paths.Json]:
    """Values that can stand nowhere where this one can."""
    if not isinstance(value, dict) and not AMOUNTS.isdisjoint(place[-2:]):
        return [{"a": 1}, "7 apples", True]
    match value:
        case None:
            return []
        case bool():
            return [{"a": 1}, 7]
        case dict():
            return ["text", [{"a": 1}]]
        case list():
            return [7, {"a": 1}]
        case _:
            return [{"a": 1}, True]


WEAKER: Final = {"USH523": {"USH524"}, "USH820": {"USH302"}, "USH1220": {"USH1221"}}
"""Checks that also hold wherever a second one does, and then leave the report to the second one.

A queue without room for the pods that start together has no room for all of them, and boards that have no profile give
no nodes to select.
"""


def denied(decision: model.Decision) -> set[str]:
    return {each.code for each in decision.judgements if each.outcome is model.Outcome.DENY}


def implied(codes: set[str]) -> set[str]:
    return codes.union(*(WEAKER.get(code, ()) for code in codes))


@pytest.mark.costly
@every_site
def test_a_value_of_a_wrong_type_never_denies_anything(key: str) -> None:
    """At every place of every fact of every example: no check finds what it does not find in the facts as they are.

    A change is tried with one of the types at each place, in turn.
    """
    site = site_of(key)
    before = {name: implied(denied(site.decide(name, site.facts))) for name in site.requests}
    for number, fact in enumerate(site.facts):
        for index, place in enumerate(places(fact)):
            values = wrong(at(fact, place), place)
            start = index % max(len(values), 1)
            for new in values if generated_examples.are_thorough() else values[start : start + 1]:
                facts = [*site.facts]
                facts[number] = with_value(fact, place, new)
                for name, expected in before.items():
                    assert denied(site.decide(name, facts)) <= expected, (name, fact["kind"], place, new)


@pytest.mark.costly
@every_site
def test_a_field_of_no_type_that_it_can_have_never_denies_anything(key: str) -> None:
    """Fields that the example leaves out: no text, list, object, number or flag may have one of another type.

    A change is tried with a third of the fields of each fact, in turn.
    """
    site = site_of(key)
    before = {name: implied(denied(site.decide(name, site.facts))) for name in site.requests}
    for number, fact in enumerate(site.facts):
        for place in FIELDS if generated_examples.are_thorough() else FIELDS[number % 3 :: 3]:
            changed = with_field(fact, place, [[{"a": [1]}]])
            if changed is not None:
                facts = [*site.facts]
                facts[number] = changed
                for name, expected in before.items():
                    assert denied(site.decide(name, facts)) <= expected, (name, fact["kind"], place)


def nested(depth: int) -> paths.Json:
    value: paths.Json = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


NUMBERS: Final = st.sampled_from([0, -1, 7, 2**31, 2**63, -(2**63) - 1, 2**64, 10**40, 0.5, 1e300, -1e300])
TEXTS: Final = st.text(max_size=12) | st.sampled_from(
    ["", "-5", "8Ei", "1e99999", "9" * 400, "NVIDIA", "default", "root", "Never", "\x00", "\u202e\U0001f600", "null"]
)
ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | st.builds(nested, st.integers(50, 300)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str, list[paths.Object]]:
    """A site, one of its workloads, and its facts with anything at a few of their places, names and kinds too."""
    key = draw(st.sampled_from(sorted(SITES)))
    site = site_of(key)
    facts = [*site.facts]
    for _ in range(draw(st.integers(1, 4))):
        number = draw(st.integers(0, len(facts) - 1))
        fact = facts[number]
        everywhere = [*places(fact), ("kind",), ("apiVersion",), ("metadata",), ("metadata", "name"), *FIELDS]
        place = draw(st.sampled_from(everywhere))
        try:
            facts[number] = with_value(fact, place, draw(ANYTHING))
        except (LookupError, TypeError):  # nothing is around it, or no longer
            continue
    return key, draw(st.sampled_from(sorted(site.requests))), facts


@pytest.mark.costly
@settings(max_examples=generated_examples.up_to(300))
@given(changes())
def test_whatever_facts_hold_there_is_a_decision_and_always_the_same(
    change: tuple[str, str, list[paths.Object]],
) -> None:
    key, name, facts = change

    decision = site_of(key).decide(name, facts)

    assert decision == site_of(key).decide(name, copy.deepcopy(facts))
    assert decision == site_of(key).decide(name, facts[::-1]) or len({identity(each) for each in facts}) < len(facts)


def identity(value: paths.Object) -> str:
    metadata = value.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    return repr((value.get("apiVersion"), value.get("kind"), fields.get("namespace") or "", fields.get("name") or ""))
