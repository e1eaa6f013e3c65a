"""From an engine's result to a decision."""

import re
from collections.abc import Callable

import pytest

from usher import errors, model, paths
from usher.config import models
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Severity
from usher.policy.excused_findings import Circumstances

DENY, WARN, AUDIT = model.Outcome.DENY, model.Outcome.WARN, model.Outcome.AUDIT


def result(field: str, *entries: paths.Json) -> paths.Object:
    return {"version": 1, field: [*entries]}


def found(check: str = "a/b", **fields: paths.Json) -> paths.Object:
    finding: paths.Object = {"path": "/spec", "message": "wrong", **fields}
    return {"check": check, "finding": finding}


def intended(mutation: str = "a/b", **fields: paths.Json) -> paths.Object:
    intent: paths.Object = {"at": "", "field": "toleration", "value": {"key": "gpu"}, "reason": "why", **fields}
    return {"mutation": mutation, "intent": intent}


def missing(check: str = "a/b", **fields: paths.Json) -> paths.Object:
    unknown: paths.Object = {"path": "/spec", "reason": "no facts", **fields}
    return {"check": check, "unknown": unknown}


def noted(mutation: str = "a/b", *, kind: str = "skip", **fields: paths.Json) -> paths.Object:
    note: paths.Object = {"at": "", "reason": "why", **fields}
    return {"mutation": mutation, kind: note}


intents = decision.read_intents


def warnings(value: paths.Object) -> tuple[model.Note, ...]:
    return decision.read_notes(value, "warnings")


def skips(value: paths.Object) -> tuple[model.Note, ...]:
    return decision.read_notes(value, "skips")


# Reading


def test_a_finding_is_read_with_all_that_it_says() -> None:
    entry = found("resources/memory", path="/spec/a", message="m", remedy="r", assumption="a", unheard_of=1)

    assert decision.read_findings(result("findings", entry)) == [
        model.Finding(check="resources/memory", path="/spec/a", message="m", remedy="r", assumption="a")
    ]


def test_a_finding_may_say_which_object_is_missing() -> None:
    given: paths.Object = {"group": "kueue.x-k8s.io", "kind": "LocalQueue", "name": "research"}
    [read] = decision.read_findings(result("findings", found(path="", message="m", missing=given)))

    assert read.missing == model.Need(group="kueue.x-k8s.io", kind="LocalQueue", name="research")
    with pytest.raises(errors.EngineError, match="malformed missing object"):
        decision.read_findings(result("findings", found(path="", message="m", missing={"kind": 1})))


def test_remedy_and_assumption_may_be_left_out() -> None:
    assert decision.read_findings(result("findings", found())) == [
        model.Finding(check="a/b", path="/spec", message="wrong")
    ]


def test_an_unknown_is_read() -> None:
    assert decision.read_unknowns(result("unknown", missing())) == [
        model.Unknown(check="a/b", path="/spec", reason="no facts")
    ]


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, {"key": "gpu"}], ids=repr)
def test_an_intent_is_read_with_a_value_of_any_kind(value: paths.Json) -> None:
    assert intents(result("intents", intended(value=value))) == [
        model.Intent(mutation="a/b", at="", field="toleration", value=value, reason="why")
    ]


def test_what_an_intent_needs_of_the_cluster_is_read() -> None:
    needs: paths.Json = [
        {"group": "", "kind": "ConfigMap", "name": "topology", "namespace": "research"},
        {"group": "scheduling.volcano.sh", "kind": "Queue", "name": "research", "labels": {"state": ["", "open"]}},
    ]

    assert intents(result("intents", intended(needs=needs)))[0].needs == (
        model.Need(group="", kind="ConfigMap", name="topology", namespace="research"),
        model.Need(group="scheduling.volcano.sh", kind="Queue", name="research", labels={"state": ("", "open")}),
    )


@pytest.mark.parametrize(
    "needs",
    [
        None,
        {},
        "Queue",
        ["Queue"],
        [{}],
        [{"group": "", "kind": "ConfigMap"}],
        [{"group": "", "kind": "ConfigMap", "name": 1}],
        [{"group": "", "kind": "ConfigMap", "name": "a", "namespace": None}],
        [{"group": "", "kind": "ConfigMap", "name": "a", "labels": ["state"]}],
        [{"group": "", "kind": "ConfigMap", "name": "a", "labels": {"state": "open"}}],
    ],
    ids=repr,
)
def test_needs_of_another_shape_are_an_error(needs: paths.Json) -> None:
    with pytest.raises(errors.EngineError):
        intents(result("intents", intended(needs=needs)))


def test_a_note_is_read() -> None:
    assert skips(result("skips", noted(at="/spec", reason="one pod"))) == (
        model.Note(mutation="a/b", at="/spec", reason="one pod"),
    )


def test_nothing_found_is_nothing_found() -> None:
    empty: paths.Object = {"version": 1, **{field: [] for field in READERS}}

    assert not any(read(empty) for read in READERS.values())


def test_the_order_in_which_an_engine_lists_things_does_not_matter() -> None:
    entries = {
        "findings": [
            found("b/a"),
            *(found(**{name: text}) for name in ("path", "message", "remedy", "assumption") for text in ("a", "b")),
        ],
        "unknown": [missing("b/a"), *(missing(**{name: text}) for name in ("path", "reason") for text in ("a", "b"))],
        "intents": [
            intended("b/a"),
            *(intended(**{name: text}) for name in ("at", "field", "value", "reason") for text in ("a", "b")),
        ],
        "warnings": [
            noted("b/a", kind="warning"),
            *(noted(kind="warning", **{name: text}) for name in ("at", "reason") for text in ("a", "b")),
        ],
        "skips": [noted("b/a"), *(noted(**{name: text}) for name in ("at", "reason") for text in ("a", "b"))],
    }

    for field, read in READERS.items():
        assert read(result(field, *entries[field])) == read(result(field, *reversed(entries[field])))


def test_findings_are_listed_by_check_and_place() -> None:
    findings = decision.read_findings(
        result("findings", found("b/a"), found("a/b", path="/z"), found("a/b", path="/a"))
    )

    assert [(each.check, each.path) for each in findings] == [("a/b", "/a"), ("a/b", "/z"), ("b/a", "/spec")]


def test_the_order_of_the_fields_of_a_value_does_not_matter() -> None:
    first, second = {"key": "a", "effect": "x"}, {"effect": "y", "key": "b"}
    turned = [dict(reversed(value.items())) for value in (first, second)]

    one = intents(result("intents", intended(value={**first}), intended(value={**second})))
    other = intents(result("intents", *(intended(value={**value}) for value in turned)))

    assert one == other


@pytest.mark.parametrize("value", [None, {}, "findings", 1], ids=repr)
def test_a_result_without_its_list_is_an_error(value: paths.Json) -> None:
    for field, read in READERS.items():
        with pytest.raises(errors.EngineError, match=f"no list of {field}"):
            read({"version": 1})
        with pytest.raises(errors.EngineError, match=f"no list of {field}"):
            read({"version": 1, field: value})


@pytest.mark.parametrize(
    "entry",
    [None, "text", [], {}, {"check": "a/b", "mutation": "a/b"}, {"finding": [], "unknown": [], "intent": []}],
    ids=repr,
)
def test_an_entry_of_another_shape_is_an_error(entry: paths.Json) -> None:
    for field, read in READERS.items():
        with pytest.raises(errors.EngineError, match=f"entry in {field} that is not an object"):
            read(result(field, entry))


@pytest.mark.parametrize("wrong", [None, 1, ["text"], {}], ids=repr)
@pytest.mark.parametrize(
    ("read", "name", "entry"),
    [
        *((decision.read_findings, name, found()) for name in ("check", "path", "message")),
        *((decision.read_unknowns, name, missing()) for name in ("check", "path", "reason")),
        *((intents, name, intended()) for name in ("mutation", "at", "field", "reason")),
        *((skips, name, noted()) for name in ("mutation", "at", "reason")),
        *((warnings, name, noted(kind="warning")) for name in ("mutation", "at", "reason")),
    ],
)
def test_a_text_that_is_missing_or_no_text_is_an_error(
    read: Callable[[paths.Object], object], name: str, entry: paths.Object, wrong: paths.Json
) -> None:
    field = next(field for field, reader in READERS.items() if reader is read)

    for spoilt in (without(entry, name), replaced(entry, name, wrong)):
        with pytest.raises(errors.EngineError, match=f"an entry without {name}"):
            read(result(field, spoilt))


@pytest.mark.parametrize("name", ["remedy", "assumption"])
def test_an_optional_text_of_a_wrong_type_is_an_error(name: str) -> None:
    with pytest.raises(errors.EngineError, match=f"an entry without {name}"):
        decision.read_findings(result("findings", replaced(found(), name, None)))


READERS: dict[str, Callable[[paths.Object], object]] = {
    "findings": decision.read_findings,
    "unknown": decision.read_unknowns,
    "intents": intents,
    "warnings": warnings,
    "skips": skips,
}


def without(entry: paths.Object, name: str) -> paths.Object:
    return {
        key: {inner: kept for inner, kept in value.items() if inner != name} if isinstance(value, dict) else value
        for key, value in entry.items()
        if key != name
    }


def replaced(entry: paths.Object, name: str, value: paths.Json) -> paths.Object:
    if name in entry:
        return {**entry, name: value}
    return {key: {**old, name: value} if isinstance(old, dict) else old for key, old in entry.items()}


# Judging

ENTRIES = catalogue.Catalogue(
    checks={
        entry.key: entry
        for entry in (
            catalogue.Entry(
                key=f"group/{severity}_check", code=code, title="", description="", severity=Severity(severity)
            )
            for severity, code in (("critical", "USH200"), ("high", "USH100"), ("medium", "USH300"), ("low", "USH050"))
        )
    },
    mutations={},
)
OLD = "it was so before"


def finding(severity: str, *, message: str = "wrong", path: str = "/spec", assumption: str = "") -> model.Finding:
    return model.Finding(check=f"group/{severity}_check", path=path, message=message, assumption=assumption)


def judged(*findings: model.Finding, before: tuple[int, ...] = (), **enforcement: object) -> list[tuple[str, ...]]:
    """Code, outcome and reason of each judgement, in their order."""
    rules = models.Enforcement.model_validate(enforcement)
    judgements = decision.judge_findings(
        findings, where=Circumstances(namespace="research"), entries=ENTRIES, rules=rules, before=before
    )
    return [(judgement.code, judgement.outcome.value, judgement.because) for judgement in judgements]


def test_a_judgement_carries_the_identity_of_its_check() -> None:
    (judgement,) = decision.judge_findings(
        [finding("high")], where=Circumstances(namespace=""), entries=ENTRIES, rules=models.Enforcement()
    )

    assert judgement == model.Judgement(finding=finding("high"), outcome=DENY, code="USH100", name="high-check")


def test_judgements_come_worst_first_and_then_by_code() -> None:
    assert judged(finding("low"), finding("medium"), finding("critical"), finding("high")) == [
        ("USH100", "deny", ""),
        ("USH200", "deny", ""),
        ("USH300", "warn", ""),
        ("USH050", "audit", ""),
    ]


def test_a_check_that_is_off_in_this_namespace_does_not_judge() -> None:
    rules = [{"check": "high-check", "namespaces": ["research"], "action": "off"}]

    assert judged(finding("high"), finding("medium"), rules=rules) == [("USH300", "warn", "")]


def test_a_finding_of_an_unknown_check_is_an_error() -> None:
    stranger = model.Finding(check="group/stranger", path="", message="")

    with pytest.raises(errors.EngineError, match=re.escape("group/stranger, which is in no catalogue")):
        judged(finding("high"), stranger)


def test_an_unknown_check_is_an_error_even_where_everything_is_off() -> None:
    with pytest.raises(errors.EngineError, match="in no catalogue"):
        judged(
            model.Finding(check="group/stranger", path="", message=""),
            rules=[{"check": "*", "action": "off"}],
        )


def test_an_assumption_warns_at_most() -> None:
    assert judged(finding("critical", assumption="no pools declared"), preset="strict") == [
        ("USH200", "warn", "no pools declared")
    ]


def test_what_only_the_site_can_confirm_is_noted_unless_the_site_asks_for_more() -> None:
    noted = model.Finding(check="group/medium_check", path="", message="", assumption="no gangs", noted=True)

    assert judged(noted) == [("USH300", "audit", "no gangs")]
    assert judged(noted, preset="strict") == [("USH300", "warn", "no gangs")]
    rules = [{"check": "medium-check", "action": "warn"}]
    assert judged(noted, rules=rules) == [("USH300", "warn", "")]


def test_on_update_what_was_wrong_already_warns() -> None:
    assert judged(finding("high"), finding("critical"), before=(1,)) == [
        ("USH100", "deny", ""),
        ("USH200", "warn", OLD),
    ]


def test_on_update_what_was_wrong_already_does_not_become_stricter() -> None:
    same = (finding("medium"), finding("low"))

    assert judged(*same, before=(0, 1)) == [("USH300", "warn", ""), ("USH050", "audit", "")]


@pytest.mark.parametrize(
    ("outcomes", "allowed"), [([], True), ([WARN, AUDIT], True), ([DENY], False), ([WARN, DENY, AUDIT], False)]
)
def test_a_decision_allows_what_nothing_denies(outcomes: list[model.Outcome], *, allowed: bool) -> None:
    judgements = tuple(
        model.Judgement(finding=finding("high"), outcome=outcome, code="USH100", name="") for outcome in outcomes
    )

    assert model.Decision(workload=None, judgements=judgements).allowed is allowed
