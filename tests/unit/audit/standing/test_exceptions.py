"""Exceptions of usher.yaml that cover nothing."""

import pytest

from builders.estates import estate
from builders.standings import exception, found, namespaces, report
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.estate import Missing
from usher.scan.exception_uses import ExceptionState

CODES = ("USA010", "USA011", "USA012")


def test_an_unused_exception_is_named_by_its_ticket() -> None:
    of = report(exceptions=[exception(ExceptionState.UNUSED)])

    assert found(estate(), namespaces("ml-research"), of=of, codes=CODES) == [
        FindingEntry(
            fingerprint="f34931a89cda2dc653fd8c5412d487de",
            code="USA010",
            name="exception-unused",
            title="An exception of usher.yaml covers no finding",
            category="cluster",
            outcome="audit",
            severity=Severity.LOW,
            subject=Subject(api_version="gpu-usher.io/v1alpha1", kind="Config", name="GPU-7"),
            path="enforcement.exceptions[0]",
            message="the exception GPU-7 for gpu-toleration-present: no object has a finding that it covers",
            remedy="Remove the exception from usher.yaml.",
            team="team-nlp",
            evidence=("owner: team-nlp", "namespaces: ml-*"),
        )
    ]


@pytest.mark.parametrize(("state", "code"), [(ExceptionState.UNUSED, "USA010"), (ExceptionState.EXPIRED, "USA011")])
def test_the_state_decides_about_the_code(state: ExceptionState, code: str) -> None:
    of = report(exceptions=[exception(state), exception(ExceptionState.USED, ticket="GPU-8")])

    assert [each.code for each in found(estate(), namespaces("ml-research"), of=of, codes=CODES)] == [code]


def test_an_exception_for_a_namespace_that_does_not_exist_is_not_needed() -> None:
    of = report(exceptions=[exception(ExceptionState.UNUSED, namespaces=["gone-*"])])

    assert [each.code for each in found(estate(), namespaces("ml-research"), of=of, codes=CODES)] == ["USA012"]


def test_without_the_namespaces_an_exception_is_only_unused() -> None:
    of = report(exceptions=[exception(ExceptionState.UNUSED, namespaces=["gone-*"])])

    assert [each.code for each in found(estate(), of=of, codes=CODES)] == ["USA010"]


def test_an_incomplete_audit_proves_no_exception_unused() -> None:
    of = report(exceptions=[exception(ExceptionState.UNUSED), exception(ExceptionState.EXPIRED, ticket="GPU-8")])
    seen = estate(missing=[Missing(source="jobs.batch", reason="forbidden")])

    assert [each.code for each in found(seen, of=of, codes=CODES)] == ["USA011"]


def test_the_place_of_an_exception_does_not_change_its_fingerprint() -> None:
    last = exception(ExceptionState.EXPIRED)
    alone = found(estate(), of=report(exceptions=[last]), codes=CODES)
    moved = found(estate(), of=report(exceptions=[exception(ExceptionState.USED, ticket="X"), last]), codes=CODES)

    assert [each.fingerprint for each in alone] == [each.fingerprint for each in moved]
    assert [each.path for each in moved] == ["enforcement.exceptions[1]"]
