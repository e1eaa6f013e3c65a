"""The picture of the README: what it shows of the report, and that it is complete in itself."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import draw_check
import pytest

PICTURES = Path(__file__).parents[2] / "docs/pictures"


def report(findings: int) -> str:
    """The output of the command, in the parts that the picture looks at."""
    shown = [f"{heading(number)}\n  | <why {number}>" for number in range(findings)]
    return "\n".join(["file.yaml", *shown, "", "left out: nothing", "1 file: errors"])


def heading(number: int) -> str:
    return f"  {number}:1  \x1b[1;31merror\x1b[0m  USH{number} rule"


def test_the_picture_shows_the_first_findings_and_the_summary() -> None:
    shown = [line.plain for line in draw_check.excerpt(report(findings=5))]

    assert shown[0] == "$ usher check examples/bad-pytorchjob.yaml"
    assert [line.split()[2] for line in shown if " error " in line] == ["USH0", "USH1", "USH2"]
    assert shown[-2:] == ["  ⋮", "1 file: errors"]


def test_an_example_with_too_few_findings_is_refused() -> None:
    with pytest.raises(SystemExit, match="shows 3 findings, needs 4"):
        draw_check.excerpt(report(findings=3))


def test_text_stands_in_its_column_escaped_and_in_its_style() -> None:
    root = ET.fromstring(draw_check.svg(draw_check.excerpt(report(findings=4))))
    drawn = {element.text: element.attrib for element in root.iter("{http://www.w3.org/2000/svg}text")}

    assert "| <why 0>" in drawn
    assert drawn["error"]["font-weight"] == "bold"
    assert float(drawn["error"]["x"]) > float(drawn["0:1"]["x"]) > float(drawn["file.yaml"]["x"])


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda picture: picture.name)
def test_a_picture_loads_nothing_from_elsewhere(picture: Path) -> None:
    svg = picture.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")

    assert not re.search(r"https?:|//|url\(|href|@font-face|<script", svg)
