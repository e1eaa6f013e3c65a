"""The changes that mutation testing makes to a Rego file, one at a time.

A condition is left out, a comparison is turned or moved by one, a negation is taken away or added. The records of
tests/data/mutants.json hold a digest of this file: every record is stale when it changes.
"""

import base64
import json
from collections.abc import Iterator
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
        # The part after `else` is a separate rule, and the loop visits its conditions separately.
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
    if isinstance(terms, dict) and "symbols" in terms:  # `some` binds names that other expressions need
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
