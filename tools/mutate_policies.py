"""Changes every condition of every policy, one at a time, and asks whether a test notices. Run it as scripts/mutants.

A condition is left out, a comparison turned or moved by one, a negation taken away or added. What no test notices is a
condition that nobody would miss; each is printed. Changes that do not compile, or that the type checker refuses, are
not counted. A library is judged by its own test, and then by those of all checks and mutations that rest on it, with
the documents of policies/examples.json.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
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
_LIBRARY: Final = "lib"
_GENERATED: Final = "parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    line: int
    before: str
    after: str
    text: str
    """The whole file with the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A copy of a policy: what to tell opa to check it, and to test it, one after the other until a test notices."""

    rule: Path
    check: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opa", type=Path, required=True)
    parser.add_argument("--policies", type=Path, required=True)
    parser.add_argument("--threshold", type=float, default=95.0, help="per cent of the changes that tests must notice")
    parser.add_argument("keys", nargs="*", help="category/name of checks and mutations, lib/name of libraries; or all")
    arguments = parser.parse_args()
    wanted = {key: source for key, source in sources(arguments.policies) if key in arguments.keys or not arguments.keys}
    missing = set(arguments.keys).difference(wanted)
    if missing:
        sys.exit(f"there is no policy {', '.join(sorted(missing))}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda source: survivors(arguments.opa, arguments.policies, source), wanted.values()))
    made = sum(number for number, _ in results)
    alive = [line for _, lines in results for line in lines]
    print("\n".join(alive))
    noticed = 100.0 if made == 0 else 100 * (made - len(alive)) / made
    print(f"{made} changes in {len(wanted)} policies, tests notice {noticed:.1f} % of them")
    sys.exit(noticed < arguments.threshold)


def sources(policies: Path) -> Iterator[tuple[str, Path]]:
    """Every policy by its key, as `category/name` and `lib/name`."""
    for test in sorted(policies.glob("usher/*/*/*/*_test.rego")):
        yield f"{test.parent.parent.name}/{test.parent.name}", test.parent / f"{test.parent.name}.rego"
    for file in sorted((policies / "usher" / _LIBRARY).glob("*.rego")):
        if not file.stem.endswith("_test") and file.stem != _GENERATED:
            yield f"{_LIBRARY}/{file.stem}", file


def survivors(opa: Path, policies: Path, source: Path) -> tuple[int, list[str]]:
    """How many changes of a policy compile, and those that no test notices."""
    made = 0
    alive: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        trial = prepare(policies, source, Path(directory))
        if not all(passes(opa, command) for command in (trial.check, *trial.tests)):
            # Otherwise every change would seem to be noticed.
            sys.exit(f"{source}: its tests fail without a change; see scripts/rego")
        for mutant in mutants(opa, source):
            trial.rule.write_text(mutant.text, encoding="utf-8")
            if not passes(opa, trial.check):
                continue
            made += 1
            if all(passes(opa, test) for test in trial.tests):
                alive.append(f"{source}:{mutant.line}: {mutant.before!r} -> {mutant.after!r}")
    return made, alive


def passes(opa: Path, command: Sequence[str]) -> bool:
    return subprocess.run([opa, *command], check=False, capture_output=True).returncode == 0


def prepare(policies: Path, source: Path, copy: Path) -> Trial:
    if source.parent.name == _LIBRARY:
        return prepare_library(policies, source.stem, copy)
    trial = try_check.prepare(policies, source.parent, copy)
    return Trial(rule=trial.rule, check=trial.check, tests=(trial.test,))


def prepare_library(policies: Path, name: str, copy: Path) -> Trial:
    """Copies a library with whatever rests on it, and all that this needs, into an empty folder."""
    own = policies / "usher" / _LIBRARY / f"{name}.rego"
    test = own.with_name(f"{name}_test.rego")
    folders = resting_on(policies, name)
    needed = {name} | try_check.libraries(policies, [own, test] if test.exists() else [own])
    in_folders = try_check.libraries(policies, (file for folder in folders for file in folder.glob("*.rego")))
    try_check.copy_libraries(policies, needed | in_folders, copy)
    for folder in folders:
        shutil.copytree(folder, copy / folder.relative_to(policies), ignore=shutil.ignore_patterns("examples"))
    examples = copy / "examples.json"
    examples.write_text(json.dumps({"examples": examples_of(policies, folders)}), encoding="utf-8")
    library = copy / "usher" / _LIBRARY
    alone = [str(library / f"{each}.rego") for each in sorted(needed)]
    tests: list[tuple[str, ...]] = []
    if test.exists():
        shutil.copy(test, library)
        tests.append(("test", "--run", rf"^data\.usher\.lib\.{name}_test\.", *alone, str(library / test.name)))
    if folders:
        rules = r"^data\.usher\.(checks|mutations)\."
        tests.append(("test", "--run", rules, str(copy / "usher"), str(examples)))
    return Trial(
        rule=library / own.name,
        check=(
            "check", "--strict", "--schema", str(policies / "schemas"), "--capabilities",
            str(policies / "capabilities.json"), *alone,
        ),
        tests=tuple(tests),
    )  # fmt: skip


def resting_on(policies: Path, library: str) -> list[Path]:
    """The folders of the checks and mutations that a library is part of, directly or by another library."""
    return [
        source.parent
        for _, source in sources(policies)
        if source.parent.name != _LIBRARY and library in try_check.libraries(policies, source.parent.glob("*.rego"))
    ]


def examples_of(policies: Path, folders: Sequence[Path]) -> dict[str, Any]:
    """The part of the examples that the tests of these folders read."""
    everything = json.loads((policies / "examples.json").read_bytes())["examples"]
    found: dict[str, Any] = {}
    for folder in folders:
        kind, category, name = folder.relative_to(policies / "usher").parts
        found.setdefault(kind, {}).setdefault(category, {})[name] = everything[kind][category][name]
    return found


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
