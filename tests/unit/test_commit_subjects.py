"""The commit-msg hook: which subjects it refuses, and what it lets git write."""

from pathlib import Path

import check_commit_subject
import pytest


def told(subject: str) -> str:
    return "\n".join(check_commit_subject.problems(subject))


@pytest.mark.parametrize(
    "subject",
    [
        "Charge recreated Jobs beside their old pods",
        "Pass the facts to the evaluator",
        "Embed the engine",
        "Focus the report on errors",
        "Re-read usher.yaml after a failure",
        "Add " + "y" * 68,
        "Merge branch 'kinds'",
        'Revert "Added a check that nobody wanted and that has a subject of more than 72 characters"',
        "fixup! the last commit",
    ],
)
def test_a_good_subject_passes(subject: str) -> None:
    assert not told(subject)


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("", "is empty"),
        ("Add " + "y" * 69, "has 73 characters; 72 are the most"),
        ("Add a check.", "full stop"),
        ("add a check", "capital letter"),
        ("Added a check", "use the imperative"),
        ("Adding a check", "use the imperative"),
        ("Adds a check", "use the imperative"),
        ("The check is faster", "begin with a verb"),
        ("Fix: the check", "without a prefix"),
        ("feat(checks): add one", "without a prefix"),
        ("#13 add a check", "without a prefix"),
    ],
)
def test_a_bad_subject_is_refused_with_the_reason(subject: str, reason: str) -> None:
    assert reason in told(subject)


def test_the_subject_is_the_first_line_that_git_keeps() -> None:
    message = "\n# a hint of git\n  Add a check\n\nIts body. Added later.\n"

    assert check_commit_subject.subject_of(message) == "Add a check"


def test_nothing_below_the_scissors_is_a_subject() -> None:
    message = "# ------------------------ >8 ------------------------\ndiff --git a/file b/file\n"

    assert not check_commit_subject.subject_of(message)


def test_the_hook_ends_with_1_for_a_bad_subject(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text("Added a check\n")
    bad = check_commit_subject.main([str(file)])
    refusal = capsys.readouterr().err
    file.write_text("Add a check\n")

    assert (bad, check_commit_subject.main([str(file)])) == (1, 0)
    assert "Added a check" in refusal
