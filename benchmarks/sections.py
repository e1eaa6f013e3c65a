"""The parts of docs/benchmarks.md that benchmarks write, and the ratios that a later run is compared with."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

WORSE: Final = 1.10
"""A ratio that grew by more than this factor is worse."""


def publish(section: str, measure: Callable[[], str], *, description: str | None, ratios: Sequence[str] = ()) -> None:
    """Prints the results, and with --write puts them between the marks of their section in a page.

    Args:
        section: the name in the marks.
        measure: gives the results as Markdown.
        description: for --help.
        ratios: the columns with ratios to a peer of the same run. With --compare the command fails if one is worse
            than in a page.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", type=Path, help="write the tables into this Markdown file")
    if ratios:
        parser.add_argument("--compare", type=Path, help="fail if a ratio is 10 %% worse than in this Markdown file")
    given = vars(parser.parse_args())
    page, recorded = given["write"], given.get("compare")
    known = "" if recorded is None else _section(recorded.read_text(), section)[1]
    text = measure()
    print(text)
    if page is not None:
        head, _, tail = _section(page.read_text(), section)
        page.write_text(f"{head}{text}\n{tail}")
    if recorded is not None and (found := [message for each in ratios for message in worse(known, text, each)]):
        raise SystemExit("\n".join(found))


def _section(page: str, name: str) -> tuple[str, str, str]:
    """The text before a section, the section, and the text after it; both with their marks."""
    mark, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, _, rest = page.partition(mark)
    inside, _, tail = rest.partition(end)
    return head + mark, inside, end + tail


def worse(recorded: str, measured: str, column: str) -> Iterator[str]:
    """A message for each row whose ratio is worse than recorded, or that is not recorded."""
    before = dict(_ratios(recorded, column))
    if not before:
        yield f"no ratio is recorded in a column {column!r}"
    for name, ratio in _ratios(measured, column):
        if name not in before:
            yield f"{name}: no ratio is recorded; run with --write"
        elif ratio > before[name] * WORSE:
            yield f"{name}: {ratio:.2f} {column}, and {before[name]:.2f} was recorded"


def _ratios(table: str, column: str) -> Iterator[tuple[str, float]]:
    """The first two cells of each row of the tables with that column, and its number there, if it has one."""
    place, inside = -1, False
    for text in table.splitlines():
        cells = [each.strip() for each in text.strip("|").split("|")]
        if not text.startswith("|"):
            inside = False
        elif not inside:
            place, inside = cells.index(column) if column in cells else -1, True
        elif place >= 0 and cells[place] and not cells[0].startswith("---"):
            yield ", ".join(cells[:2]), float(cells[place])
