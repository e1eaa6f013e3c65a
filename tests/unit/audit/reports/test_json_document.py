"""The audit document as JSON: sorted, readable again, and harmless in the log of a CI job."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from builders import audit_documents as audits
from usher.audit.document import Audit
from usher.audit.reports import json_document


def written(audit: Audit) -> str:
    stream = io.StringIO()
    json_document.write(audit, stream)
    return stream.getvalue()


def test_the_document_reads_back_as_it_was() -> None:
    assert Audit.model_validate_json(written(audits.full())) == audits.full()


def test_keys_are_sorted_and_in_camel_case() -> None:
    document = json.loads(written(audits.full()))

    assert list(document) == sorted(document)
    assert document["apiVersion"] == "gpu-usher.io/v1alpha1"
    assert document["usage"][0]["rows"][0]["usage"]["memoryPeak"] == 24 * 2**30


def test_what_was_not_measured_is_null() -> None:
    assert json.loads(written(audits.audit()))["summary"]["idle"] is None


@given(text=st.text(alphabet=st.characters(), max_size=30) | st.sampled_from(["##[error]x", "##vso[x]", "\ud800"]))
def test_any_name_is_read_back_and_becomes_no_command(text: str) -> None:
    document = written(audits.audit(findings=(audits.finding(message=text),)))

    assert json.loads(document)["findings"][0]["message"] == text
    assert "##[" not in document
    assert "##vso[" not in document


def test_a_number_beyond_64_bits_is_written() -> None:
    document = written(audits.audit(workloads=(audits.workload(pods_wanted=10**30),)))

    assert json.loads(document)["workloads"][0]["podsWanted"] == 10**30
