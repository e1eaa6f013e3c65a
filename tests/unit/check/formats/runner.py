"""How runners of CI systems read commands from a log, after their own sources."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    name: str
    properties: Mapping[str, str]
    data: str


_GITHUB_DATA: Final = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_GITHUB_PROPERTY: Final = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))


def github(log: str) -> tuple[list[Command], list[str]]:
    """The commands in a log, and its other lines (ActionCommand.TryParseV2 and TryParse of actions/runner)."""
    commands, others = [], []
    for line in log.split("\n")[:-1]:
        assert not re.search(r"##\[", line), "the older form of a command"
        trimmed = line.lstrip()
        if not trimmed.startswith("::") or "::" not in trimmed[2:]:
            others.append(line)
            continue
        info, _, data = trimmed[2:].partition("::")
        name, _, written = info.partition(" ")
        pairs = (each.split("=", 1) for each in written.strip().split(",") if each)
        properties = {pair[0]: _decoded(pair[1], _GITHUB_PROPERTY) for pair in pairs if len(pair) == 2}
        commands.append(Command(name=name, properties=properties, data=_decoded(data, _GITHUB_DATA)))
    return commands, others


def _decoded(text: str, mappings: tuple[tuple[str, str], ...]) -> str:
    for written, meant in mappings:
        text = text.replace(written, meant)
    return text


_AZURE: Final = (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%AZP25", "%"))


def azure(log: str) -> tuple[list[Command], list[str]]:
    """The commands in a log, and its other lines (Command.TryParse of microsoft/azure-pipelines-agent)."""
    commands, others = [], []
    for line in log.split("\n")[:-1]:
        _, prefix, rest = line.partition("##vso[")
        assert "##[" not in line, "a command that formats the log"
        info, bracket, data = rest.partition("]")
        if not prefix or not bracket:
            others.append(line)
            continue
        name, _, written = info.partition(" ")
        pairs = (each.split("=", 1) for each in written.split(";") if each)
        properties = {pair[0]: _decoded(pair[1], _AZURE) for pair in pairs if len(pair) == 2 and pair[1]}
        commands.append(Command(name=name, properties=properties, data=_decoded(data, _AZURE)))
    return commands, others
