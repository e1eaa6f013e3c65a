"""The text of `usher check` on many findings: by cause, each said once with its places."""

import io
from collections.abc import Sequence

import pytest

from unit.check.formats import made
from usher import model
from usher.check import findings
from usher.check.formats import text


def lines(found: findings.Report, *, quiet: bool = False) -> list[str]:
    stream = io.StringIO()
    text.write(found, stream, width=100, quiet=quiet)
    return stream.getvalue().splitlines()


def jobs(number: int, *, message: str = "asks for half a GPU", per_file: int = 10) -> list[findings.Result]:
    return [
        made.result(
            made.finding(message, at=made.place(10 * (each % per_file) + 1, "gpu: 0.5", "0.5")),
            source=f"jobs-{each // per_file:02}.yaml",
            name=f"job-{each}",
        )
        for each in range(number)
    ]


def test_a_thousand_findings_with_one_cause_fit_on_a_screen() -> None:
    shown = lines(made.made(*jobs(1_000)))

    assert len(shown) < 40
    assert sum("asks for half a GPU" in line for line in shown) == 1
    assert sum("set both to the same number" in line for line in shown) == 1
    assert "error  USH103 gpu-requests-equal-limits  1,000 workloads, 72,000 GPUs" in shown
    assert "      jobs-00.yaml:1:6, 11:6, 21:6, 31:6, 41:6, 51:6, 61:6, 71:6, 81:6, 91:6" in shown
    assert "      and 800 more places in 80 more files; --format json lists all" in shown


def test_the_first_place_is_shown_with_its_line() -> None:
    shown = lines(made.made(*jobs(60)))

    assert shown[1:3] == ["      1 | gpu: 0.5", "        |      ^^^"]


def test_a_file_with_one_place_names_its_workload() -> None:
    shown = lines(made.made(*jobs(60, per_file=1)))

    assert "      jobs-00.yaml:1:6  PyTorchJob ml-research/job-0" in shown


def test_many_places_in_one_file_are_cut_and_counted() -> None:
    shown = lines(made.made(*jobs(60, per_file=60)))

    assert next(line for line in shown if line.startswith("      jobs-00.yaml")).endswith("91:6 and 50 more")


def test_messages_with_one_remedy_share_it() -> None:
    results = [*jobs(30), *jobs(30, message="asks for a third of a GPU")]
    shown = lines(made.made(*results))

    messages = [number for number, line in enumerate(shown) if line.startswith("  asks for")]
    remedies = [number for number, line in enumerate(shown) if line.startswith("  = ")]
    assert (len(messages), len(remedies)) == (2, 1)
    assert messages[-1] < remedies[0]


@pytest.mark.parametrize(("number", "by_cause"), [(text.MOST_BY_FILE, False), (text.MOST_BY_FILE + 1, True)])
def test_a_short_report_stays_by_file(number: int, by_cause: bool) -> None:
    shown = lines(made.made(*jobs(number)))

    assert (shown[0] != "jobs-00.yaml") is by_cause


def test_the_worst_comes_first_and_what_could_not_be_read_before_it() -> None:
    warnings: Sequence[findings.Result] = [
        made.result(made.finding(outcome=model.Outcome.WARN), name=f"job-{each}") for each in range(60)
    ]
    broken = findings.Problem(source="broken.yaml", line=1, column=1, reason="is no YAML")
    found = made.made(*warnings, *jobs(1), problems=[broken])

    shown = lines(found)

    assert shown[:2] == ["broken.yaml", "  1:1  error  is no YAML"]
    assert [line.split()[0] for line in shown if " USH103 " in line] == ["error", "warn"]


def test_an_unknown_part_is_said_once_for_all_objects() -> None:
    unknown = made.not_judged("expected a mapping, found a text", path="/spec")
    found = made.made(*(made.result(name=f"job-{each}", unknowns=[unknown, unknown]) for each in range(60)))

    shown = lines(found)

    assert shown[0] == "unknown  expected a mapping, found a text"
    assert shown[1:3] == [f"              PyTorchJob ml-research/job-{each}, jobs/bert.yaml:1" for each in range(2)]
    assert "              and 50 more workloads; --format json lists all" in shown


def test_objects_with_the_same_changes_share_a_note() -> None:
    (changed,) = made.changed(diff=False).results
    found = made.made(*(made.result(change=changed.change, name=f"job-{each}") for each in range(60)))

    shown = lines(found)

    assert "note   the mutating webhook adds this to 60 objects" in shown
    assert sum("+ gpu-toleration" in line for line in shown) == 1
    assert shown.count("         jobs/bert.yaml:1") == 3
    assert "         and 57 more" in shown
    assert not any("webhook" in line for line in lines(found, quiet=True))
