"""usher names the cause and the remedy of what people reported in public, by inputs of our own, and little else.

`tools/record_reports.py` says what a folder holds, and writes the answers.
"""

from pathlib import Path

import pytest
import record_reports

from generated_examples import in_turn
from integration.command import usher

_REPORTS = record_reports.folders()
_MOST_OTHERS = 2
"""Findings beside the right answer that a reader may take for noise."""


@pytest.mark.parametrize(
    "folder", in_turn(_REPORTS, every=3, others=pytest.mark.costly), ids=[folder.name for folder in _REPORTS]
)
def test_the_answer_to_a_report_names_the_cause_and_the_remedy(folder: Path) -> None:
    run = usher(*record_reports.command(folder), cwd=folder)
    text = record_reports.answer(run.code, run.json)
    found = record_reports.codes(text)
    wanted = record_reports.named_codes(folder)

    assert text == (folder / "expected.txt").read_text()
    assert wanted <= {code for code, _ in found}
    assert len([code for code, outcome in found if code not in wanted and outcome != "note"]) <= _MOST_OTHERS
