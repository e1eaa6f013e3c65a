"""The pictures of the audit: scripts/pictures makes each of them, and the page about audits shows them."""

import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import draw_audit
from rich.text import Text

ROOT: Final = Path(__file__).parents[2]
PNG: Final = b"\x89PNG\r\n\x1a\n"


def test_every_picture_is_there_and_no_other() -> None:
    made = {shot.name for shot in draw_audit.SHOTS} | {draw_audit.RECORDING}

    assert made == {file.name for file in draw_audit.PICTURES.iterdir()} - {"check.svg"}


def test_every_screenshot_has_its_size() -> None:
    for shot in draw_audit.SHOTS:
        content = (draw_audit.PICTURES / shot.name).read_bytes()
        assert content.startswith(PNG)
        assert (int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")) == shot.size


def test_the_page_about_audits_shows_every_picture_with_a_description() -> None:
    page = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    shown = {name: words for words, name in re.findall(r"!\[([^\]]+)\]\(pictures/([^)]+)\)", page)}

    assert set(shown) == {shot.name for shot in draw_audit.SHOTS} | {draw_audit.RECORDING}
    assert all(len(words) > 20 for words in shown.values())


def test_a_recording_has_every_line_in_its_turn() -> None:
    lines = [Text("$ usher audit --demo"), Text("first"), Text("second")]

    root = ET.fromstring(draw_audit.recording(lines))

    drawn = {element.text: element.attrib["class"] for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert drawn == {"$ usher audit --demo": "l0", "first": "l1", "second": "l2"}
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    delays = [float(delay) for delay in re.findall(r"\.l\d\{animation-delay:([\d.]+)s", style)]
    assert delays == sorted(delays)
    assert "prefers-reduced-motion:no-preference" in style
