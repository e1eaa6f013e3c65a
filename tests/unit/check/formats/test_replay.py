"""The reports of `usher replay` escape what strangers write, stay within their bounds, and say what they leave out."""

import io
from typing import Final

import orjson
import pytest

from unit.check.replay.made import CHECKS, found, side, unknown, verdict
from usher.check.formats import replay
from usher.check.replay import comparison, impact
from usher.check.replay.comparison import Side
from usher.check.replay.impact import Impact

HOSTILE: Final = "a|b @team #1 [x](http://y) ##vso[task]\n::error::\x1b[31m`<script>"


def compared(before: Side, after: Side) -> Impact:
    return impact.measure_impact(comparison.compare_sides(before, after))


def text(found: Impact) -> str:
    stream = io.StringIO()
    replay.write_text(found, stream, width=120)
    return stream.getvalue()


def markdown(found: Impact, *, max_size: int = replay.MAX_MARKDOWN_SIZE) -> str:
    stream = io.StringIO()
    replay.write_markdown(found, stream, max_size=max_size)
    return stream.getvalue()


def hostile() -> Impact:
    fields = {
        "key": "1",
        "namespace": HOSTILE,
        "kind": HOSTILE,
        "source": HOSTILE,
        "owner": f"{HOSTILE}/x",
        "user": HOSTILE,
    }
    before = side(verdict(HOSTILE, **fields), label=HOSTILE, problems=[HOSTILE])  # type: ignore[arg-type]  # texts
    after = side(verdict(HOSTILE, found(message=HOSTILE), **fields), label=HOSTILE)  # type: ignore[arg-type]  # texts
    return compared(before, after)


def test_names_cannot_write_markup_or_commands_of_ci_systems() -> None:
    for report in (text(hostile()), markdown(hostile())):
        assert "\x1b" not in report
        assert "##vso[" not in report
        assert not any(line.lstrip().startswith("::") for line in report.splitlines())
    shown = markdown(hostile())
    outside_code = "".join(part for number, part in enumerate(shown.split("``")) if number % 2 == 0)
    assert "<script>" not in outside_code
    assert "[x](" not in outside_code


def test_a_name_with_a_bar_stays_in_its_cell_of_a_table() -> None:
    rows = [line for line in markdown(hostile()).splitlines() if line.startswith("| a")]

    assert rows
    assert all(line.replace("\\|", "").count("|") == 3 for line in rows)


def many(number: int) -> Impact:
    names = [f"job-{index:04}" for index in range(number)]
    return compared(
        side(*(verdict(name, namespace=f"team-{name}") for name in names)),
        side(*(verdict(name, found(message=f"{name} is wrong"), namespace=f"team-{name}") for name in names)),
    )


@pytest.mark.costly
def test_a_comment_has_room_for_what_github_takes_and_counts_the_rest() -> None:
    shown = markdown(many(2000))

    assert len(shown.encode("utf-16-le")) // 2 <= replay.MAX_MARKDOWN_SIZE
    assert "left out**, because a comment has room for 65,536 characters" in shown
    assert "newly denies 2,000 Jobs = 16,000 GPUs" in shown


def test_a_long_report_shows_the_first_and_says_how_many_more() -> None:
    shown = text(many(40))

    assert "  and 30 more namespaces; --format json lists all\n" in shown
    assert "    and 35 more messages; --format json lists all\n" in shown


def test_the_json_report_has_all_objects_that_differ() -> None:
    stream = io.StringIO()
    replay.write_json(many(40), stream)
    document = orjson.loads(stream.getvalue())

    assert len(document["objects"]) == 40
    assert document["objects"][0]["checks"][0]["messages"] == ["job-0000 is wrong"]


def test_a_check_that_one_side_could_not_evaluate_is_said_with_its_reason() -> None:
    shown = text(compared(side(verdict("a", found())), side(verdict("a", unknowns=[unknown(CHECKS[0], "no facts")]))))

    assert shown.startswith("newly denies nothing; 1 Job = 8 GPUs evaluated on one side alone\n")
    assert "before: denied; after: not evaluated" in shown
    assert "    no facts\n" in shown


def test_an_exemption_is_named_where_it_ends_a_denial() -> None:
    before = side(verdict("a", found()))
    after = side(verdict("a", exemption="usher.yaml exempts namespace research"))

    assert "after: nothing, because usher.yaml exempts namespace research" in " ".join(
        text(compared(before, after)).split()
    )


def test_versions_and_policies_are_named_where_they_differ() -> None:
    before = side(verdict("a"))
    after = Side(label="usher.yaml", version="2.0.0", policies="fedcba9876543210", verdicts=before.verdicts)

    assert "gpu-usher 1.0.0, policies 0123456789abcdef" in text(compared(before, after))
    assert "gpu-usher" not in text(compared(before, before))


def test_an_object_without_a_verdict_makes_the_report_incomplete() -> None:
    failed = side(verdict("a", failure="the engine gave no answer"))

    assert text(compared(failed, failed)).endswith("INCOMPLETE: 1 object could not be judged\n")
