"""Changes every condition of every check, one at a time, and asks whether a test notices. Run it as scripts/mutants.

A condition is left out, a comparison turned or moved by one, a negation taken away or added. What no test notices is a
condition that nobody would miss; each is printed. Changes that do not compile, or that the type checker refuses, are
not counted.
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import try_check

_TURNED: Final = {
    "equal": [("==", "!=")],
    "neq": [("!=", "==")],
    "gt": [(">", ">="), (">", "<")],
    "gte": [(">=", ">"), (">=", "<")],
    "lt": [("<", "<="), ("<", ">")],
    "lte": [("<=", "<"), ("<=", ">")],
}
_BINDS: Final = frozenset({"assign", "eq"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    line: int
    before: str
    after: str
    text: str
    """The whole file with the change."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opa", type=Path, required=True)
    parser.add_argument("--policies", type=Path, required=True)
    parser.add_argument("--threshold", type=float, default=95.0, help="per cent of the changes that tests must notice")
    parser.add_argument("keys", nargs="*", help="category/name of checks and mutations; all, if none is given")
    arguments = parser.parse_args()
    folders = sorted(path.parent for path in arguments.policies.glob("usher/*/*/*/*_test.rego"))
    wanted = [each for each in folders if not arguments.keys or f"{each.parent.name}/{each.name}" in arguments.keys]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda folder: survivors(arguments.opa, arguments.policies, folder), wanted))
    made = sum(number for number, _ in results)
    alive = [line for _, lines in results for line in lines]
    print("\n".join(alive))
    noticed = 100.0 if made == 0 else 100 * (made - len(alive)) / made
    print(f"{made} changes in {len(wanted)} checks and mutations, tests notice {noticed:.1f} % of them")
    sys.exit(noticed < arguments.threshold)


def survivors(opa: Path, policies: Path, folder: Path) -> tuple[int, list[str]]:
    """How many changes of a rule compile, and those that no test notices."""
    source = folder / f"{folder.name}.rego"
    made = 0
    alive: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        trial = try_check.prepare(policies, folder, Path(directory))
        for mutant in mutants(opa, source):
            trial.rule.write_text(mutant.text, encoding="utf-8")
            if subprocess.run([opa, *trial.check], check=False, capture_output=True).returncode != 0:
                continue
            made += 1
            if subprocess.run([opa, *trial.test], check=False, capture_output=True).returncode == 0:
                alive.append(f"{source}:{mutant.line}: {mutant.before!r} -> {mutant.after!r}")
    return made, alive


def mutants(opa: Path, source: Path) -> Iterator[Mutant]:
    text = source.read_text(encoding="utf-8")
    parsed = json.loads(try_check.run(opa, "parse", "--format", "json", "--json-include", "locations", str(source)))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen = set()
    for expression in expressions(parsed):
        location = expression["location"]
        before = base64.b64decode(location["text"]).decode()
        offset = starts[location["row"] - 1] + location["col"] - 1
        # What follows an `else` is a rule of its own, whose conditions come by themselves.
        if not text.startswith(before, offset) or before.startswith("else") or (offset, before) in seen:
            continue
        seen.add((offset, before))
        for after in changes(expression, before):
            changed = text[:offset] + after + text[offset + len(before) :]
            yield Mutant(line=location["row"], before=before, after=after, text=changed)


def expressions(node: object) -> Iterator[dict[str, Any]]:
    """Every expression of every body, those of comprehensions too."""
    if isinstance(node, dict):
        if "terms" in node and "location" in node:
            yield node
        for child in node.values():
            yield from expressions(child)
    elif isinstance(node, list):
        for child in node:
            yield from expressions(child)


def changes(expression: dict[str, Any], before: str) -> Iterator[str]:
    terms = expression["terms"]
    if isinstance(terms, dict) and "symbols" in terms:  # `some` binds what others need
        return
    operator = ""
    if isinstance(terms, list) and terms[0].get("type") == "ref":
        operator = ".".join(str(part["value"]) for part in terms[0]["value"])
    if operator in _BINDS:
        return
    if isinstance(terms, dict) and terms.get("type") in ("boolean", "string", "number", "templatestring", "object"):
        return
    yield "true"
    if expression.get("negated"):
        yield before.removeprefix("not ").lstrip()
        return
    for sign, other in _TURNED.get(operator, []):
        left, found, right = before.partition(f" {sign} ")
        if found:
            yield f"{left} {other} {right}"
    if operator not in _TURNED:
        yield f"not {before}"


if __name__ == "__main__":
    main()
