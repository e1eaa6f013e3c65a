"""The first sentences of an audit: few numbers in each, and the same in all forms."""

import io
import re
from collections.abc import Callable

import pytest

from builders import audit_documents as documents
from builders import audited_clusters as clusters
from builders import tpu_audits
from unit.audit.reports.shown import page, words
from usher.audit.document import Audit
from usher.audit.reports import audit_text
from usher.audit.reports import summary as reports_summary
from usher.audit.reports.numbers import PAGE, TEXT

AUDITS = (
    clusters.audit,
    clusters.not_measured,
    clusters.small,
    clusters.empty,
    clusters.hostile,
    documents.full,
    documents.growing,
    documents.audit,
    tpu_audits.without_gpus,
)


@pytest.mark.parametrize("make", AUDITS)
def test_no_sentence_has_more_than_three_numbers(make: Callable[[], Audit]) -> None:
    found = reports_summary.sentences(make(), PAGE)

    assert found
    assert [each for each in found if len(re.findall(r"\d[\d,.]*", each)) > 3] == []
    assert all(each.endswith(".") for each in found)


@pytest.mark.parametrize("make", [clusters.audit, documents.full, tpu_audits.without_gpus])
def test_all_forms_have_the_same_sentences(make: Callable[[], Audit]) -> None:
    audit = make()
    text, markdown = io.StringIO(), io.StringIO()
    audit_text.write(audit, text, width=10_000)
    audit_text.write_markdown(audit, markdown)
    written = " ".join(reports_summary.sentences(audit, TEXT))

    assert written in text.getvalue()
    assert written in markdown.getvalue()
    assert " ".join(reports_summary.sentences(audit, PAGE)) in words(page(audit))


def test_what_could_come_off_the_bill_is_a_sentence() -> None:
    saved = {"capacity": 100.0, "free": 10.0, "out_of_use": 0.0, "cost_free": 20.0, "cost_out_of_use": 0.0}
    audit = documents.full()
    summary = audit.summary.model_copy(update={**saved, "savings_cost_saved": 900.0})
    found = reports_summary.sentences(audit.model_copy(update={"summary": summary}), PAGE)

    assert "USD 900 could come off the bill once emptied nodes are given back." in found
