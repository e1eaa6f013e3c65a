"""Sums of the entries of an audit."""

from builders import audit_documents as documents
from usher.audit.document import Summary
from usher.audit.reports import entry_words


def test_each_workload_that_can_never_run_counts_once_in_the_range() -> None:
    audit = documents.growing()
    twice = audit.model_copy(update={"findings": (*audit.findings, audit.findings[0])})
    unknown = audit.model_copy(update={"summary": Summary(gpus_never=None)})

    assert [entry_words.least_never(each) for each in (audit, twice, unknown)] == [10, 10, None]
