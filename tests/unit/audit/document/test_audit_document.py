"""A saved audit document is read again; any other file is refused with its name and the place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import audit_documents as audits
from usher import errors
from usher.audit import document as audit_document
from usher.audit.reports import json_document


def saved(**changes: Any) -> bytes:
    return json.dumps(json_document.values(audits.full()) | changes).encode()


def refused(data: bytes) -> str:
    with pytest.raises(errors.InputError) as raised:
        audit_document.loads(data, source="last.json")
    return str(raised.value)


def test_a_document_reads_back_as_it_was() -> None:
    assert audit_document.loads(saved(), source="last.json") == audits.full()


def test_a_document_of_an_earlier_usher_lacks_the_fields_that_came_later() -> None:
    """Within v1alpha1 fields are only added: an older report serves as a baseline."""
    document = json.loads(saved())
    for later in ("savings", "readiness", "trend"):
        del document[later]
    del document["findings"][0]["evidence"]

    assert audit_document.loads(json.dumps(document).encode(), source="last.json").savings == ()


def test_fields_of_a_later_usher_are_left_out() -> None:
    assert audit_document.loads(saved(later={"a": 1}), source="last.json") == audits.full()


def test_a_document_of_another_version_is_named() -> None:
    assert refused(saved(apiVersion="gpu-usher.io/v2")) == (
        "last.json: an audit document of version gpu-usher.io/v2; this usher reads gpu-usher.io/v1alpha1. "
        "Use the usher that wrote it, or make an audit with this one"
    )


def test_a_list_of_findings_is_refused_with_the_command_that_makes_an_audit() -> None:
    assert "usher audit --format json=FILE" in refused(saved(kind="Report"))


@pytest.mark.parametrize("data", [b"[]", b"1", b"{}", b'{"kind": "Pod", "apiVersion": "v1"}', b'{"apiVersion": []}'])
def test_another_document_is_refused(data: bytes) -> None:
    assert refused(data).startswith("last.json: not an audit document: apiVersion gpu-usher.io/v1alpha1 and kind Audit")


def test_a_wrong_field_is_named_by_its_place() -> None:
    wrong = json_document.values(audits.full())["findings"]
    wrong[1]["severity"] = "awful"

    message = refused(saved(findings=wrong))

    assert message.startswith("last.json: not an audit document: findings.1.severity: Input should be 'critical'")


def test_many_wrong_fields_are_counted() -> None:
    assert refused(saved(findings=[{}] * 1000)).endswith(" more")
    assert len(refused(saved(findings=[{}] * 1000))) < 500


def test_broken_json_is_named_by_line_and_column() -> None:
    assert refused(b'{\n "kind": ,\n}').startswith("last.json:2:10: not JSON: ")


def test_a_file_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_document, "LARGEST", 2**20)

    assert refused(b" " * (2**20 + 1)) == "last.json: larger than 1 MiB, so it is not read"


@given(st.binary(max_size=200) | st.just(b"[" * 100_000))
def test_no_content_is_more_than_refused(data: bytes) -> None:
    assert refused(data).startswith("last.json:")
