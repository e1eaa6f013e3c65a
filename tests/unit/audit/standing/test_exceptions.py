"""Exceptions of usher.yaml that have ended, cover nothing, or that nothing needs any more."""

from datetime import date
from typing import Any

import pytest

from builders.estates import estate
from builders.standings import exception, found, namespaces, report
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.gather.estate import Estate, Missing
from usher.check.findings import ExceptionState, ExceptionUse, Failure, Identity, Note

CODES = ("USA010", "USA011", "USA012")
USED, UNUSED, EXPIRED = ExceptionState.USED, ExceptionState.UNUSED, ExceptionState.EXPIRED
LATER = date(2027, 1, 1)


def entries(*uses: ExceptionUse, seen: Estate | None = None, **fields: Any) -> list[FindingEntry]:
    """The findings about exceptions of a cluster with the namespace `ml-research`."""
    of = report(exceptions=uses, **{"origin": "prod", **fields})
    return found(seen or estate(), namespaces("ml-research"), of=of, codes=CODES)


def codes(*uses: ExceptionUse, **fields: Any) -> list[str]:
    return [each.code for each in entries(*uses, **fields)]


def message(*uses: ExceptionUse) -> str:
    (entry,) = entries(*uses)
    return entry.message.removeprefix("the exception GPU-7 for gpu-toleration-present: ")


def test_nothing_needs_an_exception_if_all_that_it_matches_passes() -> None:
    assert entries(exception(USED, findings=1, needed_findings=1), exception(UNUSED, objects=12)) == [
        FindingEntry(
            fingerprint="f34931a89cda2dc653fd8c5412d487de",
            code="USA012",
            name="exception-not-needed",
            title="Nothing needs an exception of usher.yaml any more",
            category="cluster",
            outcome="audit",
            severity=Severity.LOW,
            subject=Subject(api_version="gpu-usher.io/v1alpha1", kind="Config", name="GPU-7"),
            path="enforcement.exceptions[1]",
            message="the exception GPU-7 for gpu-toleration-present: all 12 objects that it matches pass without it",
            remedy="Remove enforcement.exceptions[1] from usher.yaml, unless another cluster needs it.",
            team="team-nlp",
            evidence=("owner: team-nlp", "namespaces: ml-*", "objects that it matches: 12"),
        )
    ]


def test_an_exception_that_matches_nothing_is_unused() -> None:
    assert codes(exception(UNUSED)) == ["USA010"]
    assert message(exception(UNUSED)) == "it matches no object"
    assert message(exception(UNUSED, namespaces=["gone-*"])) == "no namespace has a name like gone-*"


def test_nothing_needs_an_exception_if_usher_yaml_only_notes_what_it_covers() -> None:
    noted = exception(USED, objects=2, objects_with_findings=1, findings=3, needed_findings=0, codes=("USH301",))

    assert codes(noted) == ["USA012"]
    assert message(noted) == "it covers 3 findings, and usher.yaml would only note them without it"


def test_an_expired_exception_says_what_it_covered_since_when_and_what_to_do() -> None:
    ended = exception(EXPIRED, objects=3, objects_with_findings=2, codes=("USH301",), examples=("Job ml-research/a",))
    (entry,) = entries(ended)

    assert entry.code == "USA011"
    assert message(ended) == "its last day was 2026-11-01, and 2 objects have findings that it covered (USH301)"
    assert entry.since == "2026-11-02T00:00:00Z"
    assert entry.evidence[-1] == "with findings of its checks (USH301): Job ml-research/a and 1 more"
    assert entry.remedy == (
        "Mend what the evidence names and remove enforcement.exceptions[0] from usher.yaml, or agree on a new last day "
        "and set expires."
    )


def test_an_expired_exception_can_be_removed_if_nothing_needs_it() -> None:
    (entry,) = entries(exception(EXPIRED, objects=3))

    assert message(exception(EXPIRED, objects=3)) == "its last day was 2026-11-01, and no object needs it any more"
    assert entry.remedy == "Remove enforcement.exceptions[0] from usher.yaml."


def test_an_exception_behind_another_is_unused_only_if_that_one_does_not_end_earlier() -> None:
    first = exception(USED, ticket="GPU-1", findings=1, needed_findings=1, expires=LATER)
    behind = {"objects": 1, "objects_with_findings": 1, "codes": ("USH301",), "covered_by": (0,)}

    (entry,) = entries(first, exception(UNUSED, **behind))
    assert entry.message.endswith(
        "GPU-1 (enforcement.exceptions[0]) covers the same findings first, and does not end earlier"
    )
    assert codes(first, exception(UNUSED, expires=date(2027, 1, 2), **behind)) == []

    # Of two before it, one ends earlier: from then on it is needed.
    soon = exception(USED, ticket="GPU-2", findings=1, needed_findings=1, expires=date(2026, 11, 30))
    assert codes(first, soon, exception(UNUSED, expires=LATER, **{**behind, "covered_by": (0, 1)})) == []


@pytest.mark.parametrize(
    "unknown",
    [
        {"seen": estate(missing=[Missing(source="jobs.batch", reason="gone")])},
        {"notes": [Note(source="jobs.batch", reason="forbidden", hides_objects=True)]},
        {
            "failures": [
                Failure(
                    source="jobs", line=0, reason="x", identity=Identity(api_version="", kind="", namespace="", name="")
                )
            ]
        },
        {"origin": ""},
    ],
    ids=["incomplete", "a kind may not be listed", "an object was not judged", "manifests"],
)
def test_what_an_audit_did_not_see_proves_no_exception_unused(unknown: dict[str, Any]) -> None:
    assert codes(exception(UNUSED), exception(UNUSED, objects=1), exception(USED, findings=1), **unknown) == []


@pytest.mark.parametrize("unknown", [{"known": False}, {"aside": 1}], ids=["a check without a verdict", "owned pods"])
def test_what_was_not_judged_proves_no_exception_unused(unknown: dict[str, Any]) -> None:
    assert codes(exception(UNUSED, **unknown), exception(UNUSED, objects=1, **unknown)) == []
    assert message(exception(EXPIRED, objects=1, **unknown)) == "its last day was 2026-11-01"


def test_a_note_about_an_exempt_namespace_hides_nothing() -> None:
    assert codes(exception(UNUSED), notes=[Note(source="namespace a", reason="exempt")]) == ["USA010"]


def test_one_exception_keeps_its_fingerprint_whatever_its_place_and_whether_it_still_matches() -> None:
    last = exception(UNUSED)
    alone = entries(last)
    moved = entries(exception(USED, ticket="X", findings=1, needed_findings=1), exception(UNUSED, objects=1))

    assert [each.fingerprint for each in alone] == [each.fingerprint for each in moved]
    assert [each.path for each in moved] == ["enforcement.exceptions[1]"]
    assert [each.fingerprint for each in entries(exception(EXPIRED))] != [each.fingerprint for each in alone]
