"""docs/own-checks.md: its commands print what it shows, in its order, with the files that it shows.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest` of this file writes what the commands print into the page.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

import opa_server
from integration.command import usher

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

PAGE = Path(__file__).parents[2] / "docs/own-checks.md"
STEP = re.compile(
    r"`(?P<file>checks/\S+)`:\n\n```\w+\n(?P<text>.*?)```|```\n\$ usher (?P<command>[^\n]+)\n(?P<out>.*?)```", re.DOTALL
)


def test_the_example_of_the_page_works_as_the_page_shows(tmp_path: Path) -> None:
    page, shown, codes = PAGE.read_text(), [], []
    for step in STEP.finditer(page):
        if step["file"]:
            assert (tmp_path / step["file"]).is_file(), "the new check has this file"
            (tmp_path / step["file"]).write_text(step["text"])
            continue
        run = usher(*shlex.split(step["command"]), cwd=tmp_path, env={"USHER_OPA": str(opa_server.OPA)})
        codes.append(run.code)
        shown.append((step["command"], step["out"], run.out, step.span("out")))
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        for _, _, out, (start, end) in reversed(shown):
            page = page[:start] + out + page[end:]
        PAGE.write_text(page)

    assert codes == [0, 0, 1, 0]
    assert [(command, text) for command, text, _, _ in shown] == [(command, out) for command, _, out, _ in shown]
