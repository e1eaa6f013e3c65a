"""Every format, on standard output of a CI job: no name in it becomes a command of the CI system."""

import io
import pkgutil
import re
from typing import Final

import pytest
from hypothesis import given, settings

import generated_examples
from unit.check.formats import hostile
from unit.check.formats.hostile import ended
from usher.check import findings
from usher.cli import output
from usher.cli.output import FORMATS

OWN: Final = {
    "github": re.compile(r"^::(error|warning|notice) ", re.MULTILINE),
    "azure": re.compile(r"^##vso\[task\.logissue ", re.MULTILINE),
}
"""The commands that a format is made of."""
COMMAND: Final = re.compile(r"##\[|##vso\[|^\s*::", re.MULTILINE)


def written(name: str, found: findings.Report) -> str:
    stream = io.StringIO()
    pkgutil.resolve_name(FORMATS[name].run)(found, stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", output.format_names(audits=False))
@settings(max_examples=generated_examples.up_to(40))
@given(text=hostile.hostile_text.filter(lambda text: "\ud800" not in text))
def test_no_name_becomes_a_command(name: str, text: str) -> None:
    log = written(name, ended(hostile.report(text)))

    assert COMMAND.search(OWN[name].sub("", log) if name in OWN else log) is None
