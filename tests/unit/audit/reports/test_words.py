"""Amounts of accelerators in texts of audits: an unknown amount is not 0, and no accelerator is hidden."""

from collections.abc import Mapping

import pytest

from builders import audit_documents as documents
from usher.audit.document import Summary
from usher.audit.reports import words


@pytest.mark.parametrize(
    ("most", "least", "others", "shown"),
    [
        (6, 6, {}, "6 GPUs"),
        (6, 4, {}, "4 to 6 GPUs"),
        (6, None, {}, "6 GPUs"),
        (0, 0, {}, "0 GPUs"),
        (None, None, {}, "GPUs not known"),
        (0, 0, {"google.com/tpu": 256}, "256 google.com/tpu"),
        (1, 1, {"google.com/tpu": 4}, "1 GPU, 4 google.com/tpu"),
        (None, None, {"google.com/tpu": 4}, "GPUs not known, 4 google.com/tpu"),
        (0, 0, dict.fromkeys("abcde", 2), "2 a, 2 b, 2 c, 2 d, and 1 more"),
    ],
)
def test_an_amount_names_all_accelerators(
    most: float | None, least: float | None, others: Mapping[str, float], shown: str
) -> None:
    assert words.amount(most, least, others) == shown


def test_each_workload_that_can_never_run_counts_once_in_the_range() -> None:
    audit = documents.growing()
    twice = audit.model_copy(update={"findings": (*audit.findings, audit.findings[0])})
    unknown = audit.model_copy(update={"summary": Summary(gpus_never=None)})

    assert [words.least_never(each) for each in (audit, twice, unknown)] == [10, 10, None]
