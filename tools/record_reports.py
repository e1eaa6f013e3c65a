"""Records what usher says about the inputs of public reports: golden text to read when a rule changes.

A folder below `tests/reports` is one report. It holds `report.md` with one line, `REPORT: right answer (CODES)`,
manifests, perhaps `usher.yaml`, and facts of a cluster in a folder or a file `facts`. Its manifests are checked in one
run. `dump.yaml` alone is audited instead. `expected.txt` has the whole answer, and this tool writes it:
`tools/record_reports.py [FOLDER...]`. Read the difference.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

FOLDER: Final = Path(__file__).parents[1] / "tests" / "reports"
_DUMP: Final = "dump.yaml"
_Json = dict[str, Any]

_CODES: Final = re.compile(r"\(((?:US[A-Z][0-9]+(?:, )?)+)\)\s*$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", help="folders of reports; default: all")
    for folder in parser.parse_args().folders or folders():
        run = subprocess.run(
            [sys.executable, "-m", "usher", *command(folder)], cwd=folder, stdout=subprocess.PIPE, check=False
        )
        (folder / "expected.txt").write_text(answer(run.returncode, orjson.loads(run.stdout)))


def folders() -> list[Path]:
    """The folders of all reports."""
    return sorted(file.parent for file in FOLDER.glob("*/report.md"))


def command(folder: Path) -> list[str]:
    """The command that is run in the folder of a report."""
    manifests = sorted(file.name for file in folder.glob("*.yaml") if file.name not in ("usher.yaml", "facts.yaml"))
    options = ["--config", "usher.yaml"] if (folder / "usher.yaml").exists() else []
    facts = next((name for name in ("facts", "facts.yaml") if (folder / name).exists()), None)
    options += ["--facts", facts] if facts else []
    return ["audit" if manifests == [_DUMP] else "check", "--format", "json", *options, *manifests]


def named_codes(folder: Path) -> frozenset[str]:
    """The codes of the findings that are the right answer; empty if no finding is right."""
    found = _CODES.search((folder / "report.md").read_text())
    return frozenset(found[1].split(", ")) if found else frozenset()


def codes(text: str) -> list[tuple[str, str]]:
    """The code and the outcome of each finding in an answer."""
    return re.findall(r"^(US[A-Z][0-9]+) (\w+)", text, re.MULTILINE)


def answer(code: int, report: _Json) -> str:
    """The answer of a command as text: accelerators, findings and unknown parts.

    Args:
        code: the exit code.
        report: the report as JSON.
    """
    lines = _checked(report) if report["kind"] == "Report" else _audited(report)
    return "\n".join([f"exit {code}", *lines]) + "\n"


def _checked(report: _Json) -> Iterator[str]:
    for workload in report["workloads"]:
        amounts = ", ".join(f"{name} {_amount(amount)}" for name, amount in sorted(workload["accelerators"].items()))
        yield f"{workload['source']}: {workload['kind']} {workload['name']}: {amounts or 'no accelerators'}"
        for finding in workload["findings"]:
            outcome = "note" if finding["outcome"] == "audit" else finding["outcome"]
            yield f"{finding['code']} {outcome} {finding['name']} at {finding['path']}, line {finding['line']}"
            yield from _texts(finding["message"], finding["remedy"])
        for unknown in workload["unknowns"]:
            yield f"unknown at {unknown['path']}: {unknown['reason']}"


def _audited(report: _Json) -> Iterator[str]:
    for name in ("capacity", "gpus", "gpusAllocated", "gpusFree", "costPerHourFree"):
        if report["summary"].get(name) is not None:
            yield f"{name} {report['summary'][name]}"
    for finding in report["findings"]:
        yield f"{finding['code']} {finding['outcome']} {finding['name']} at {finding['path']}"
        yield from _texts(finding["message"], finding["remedy"])


def _texts(message: str, remedy: str) -> Iterator[str]:
    yield f"  {message}"
    if remedy:
        yield f"  = {remedy}"


def _amount(amount: _Json) -> str:
    return f"{amount['number']}{' and more' if amount['unbounded'] else ''}"


if __name__ == "__main__":
    main()
