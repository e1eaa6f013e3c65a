"""Tries own checks: their tests by `opa test`, their examples by the engine that judges objects, and their coverage."""

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from usher import errors
from usher.dataclass import dataclass
from usher.own_checks import compilation, examples, judged_examples
from usher.own_checks.compilation import Compiler
from usher.own_checks.examples import Example
from usher.own_checks.folders import LIBRARY, Check, Folder
from usher.policy.checks import bundle
from usher.policy.checks import catalogue as checks_catalogue
from usher.policy.engines.wasm import WasmEngine

_FAILED: Final = 2
"""The exit code of `opa test` where a test fails."""
_MOST_LINES: Final = 20
"""Lines of the values that a failed test shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One mistake in a check, and its place."""

    place: str
    """File, or file and line."""
    reason: str
    detail: str = ""
    """Lines with the values of the expression that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The results of one check's tests and examples; without a code for files that several checks share."""

    code: str
    name: str
    tests: int
    examples: int
    failures: tuple[Failure, ...]
    coverage: float | None
    """Percent of the lines of the rule; None where a test failed, because then opa measures nothing."""
    uncovered: tuple[str, ...]
    """Places that no test reaches: a file with a line, or with the first and the last of several."""

    @property
    def passed(self) -> bool:
        return not self.failures


def run(folder: Folder, compiler: Compiler, *, coverage: float = 0) -> list[Trial]:
    """The trial of each check, and of the libraries of the site if it has any.

    Args:
        folder: the checks.
        compiler: of this machine's opa.
        coverage: the least percentage of each rule's lines that its tests must reach.

    Raises:
        InputError: a file cannot be read, or OPA refuses the Rego.
    """
    compiled = compiler.compiled(folder)
    catalogue = checks_catalogue.join_catalogues(bundle.load().catalogue, [compiled])
    known = {check.entry.key: examples.read(check, catalogue) for check in folder.checks}
    with tempfile.TemporaryDirectory(prefix="usher-checks-") as name:
        place = Path(name)
        compilation.write(place, compilation.sources(folder, tests=True))
        (place / "examples.json").write_bytes(_tree(known))
        measured = _measured(folder, compiler, place)
    with contextlib.closing(judged_examples.engine(compiled)) as engine:
        trials = [_of_check(check, known[check.entry.key], engine, measured) for check in folder.checks]
    if folder.libraries:
        trials.append(_of_libraries(folder, measured))
    return [_with_threshold(each, coverage) for each in trials]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """The results of `opa test` for all tests."""

    folder: Folder
    tests: Sequence[Mapping[str, Any]]
    details: Mapping[str, str]
    """The values of failed tests, by package and name."""
    covered: Mapping[str, Mapping[str, Any]]
    """The covered lines by file; empty if a test failed."""

    def of(self, package: re.Pattern[str]) -> list[Mapping[str, Any]]:
        return [each for each in self.tests if package.fullmatch(each["package"])]

    def failures(self, tests: Sequence[Mapping[str, Any]]) -> Iterator[Failure]:
        for test in tests:
            if not (test.get("fail") or test.get("error")):
                continue
            at = test["location"]
            reason = test.get("error", {}).get("message", "")
            yield Failure(
                place=f"{compilation.placed(at['file'], self.folder)}:{at['row']}",
                reason=f"{test['name']} fails{f': {reason}' if reason else ''}",
                detail=compilation.placed(self.details.get(f"{test['package']}.{test['name']}", ""), self.folder),
            )

    def coverage(self, files: Sequence[Path]) -> tuple[float | None, tuple[str, ...]]:
        """Percent of the lines of some files, and the places that no test reaches."""
        if not self.covered:
            return None, ()
        hit = missed = 0
        places = []
        for file in files:
            found = self.covered.get(f"{compilation.OWN}/{file.relative_to(self.folder.directory).as_posix()}", {})
            hit += sum(_lines(each) for each in found.get("covered", []))
            for each in found.get("not_covered", []):
                missed += _lines(each)
                first, last = each["start"]["row"], each["end"]["row"]
                places.append(f"{file}:{first}" if first == last else f"{file}:{first}-{last}")
        return (100 * hit / (hit + missed) if hit + missed else 100.0), tuple(places)


def _lines(span: Mapping[str, Any]) -> int:
    return int(span["end"]["row"]) - int(span["start"]["row"]) + 1


def _measured(folder: Folder, compiler: Compiler, place: Path) -> _Measured:
    def opa(*options: str) -> str:
        data = ("usher", compilation.OWN, "examples.json")
        accepted = (0, _FAILED)
        return compilation.run(
            compiler.opa, "test", "--ignore", "*.yaml", *options, *data, place=place, folder=folder, accepted=accepted
        )

    tests = json.loads(opa("--format", "json") or "[]")
    if any(each.get("fail") or each.get("error") for each in tests):
        return _Measured(folder=folder, tests=tests, details=_details(opa("--var-values")), covered={})
    covered = json.loads(opa("--coverage", "--format", "json"))["files"] if tests else {}
    return _Measured(folder=folder, tests=tests, details={}, covered=covered)


_HEAD: Final = re.compile(r"^(data\.\S+): FAIL .*$")


def _details(text: str) -> dict[str, str]:
    """The expressions and values that opa prints for each failed test, by package and name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.partition("\nFAILURES\n")[2].splitlines():
        if head := _HEAD.match(line):
            name = head[1]
            found[name] = []
        elif name and not line.startswith("---"):
            found[name].append(line)
        else:
            name = ""
    return {key: "\n".join(lines[:_MOST_LINES]).strip("\n") for key, lines in found.items()}


def _of_check(check: Check, known: Sequence[Example], engine: WasmEngine, measured: _Measured) -> Trial:
    name = check.rule.parent.name
    tests = measured.of(re.compile(rf"data\.usher\.checks\.{checks_catalogue.OWN_CATEGORY}\.{name}_test"))
    coverage, uncovered = measured.coverage([check.rule])
    folder = check.rule.parent
    missing = [
        Failure(place=str(check.examples), reason=f"has no {kind} example, {kind}_NAME.yaml")
        for kind in ("bad", "good")
        if not any(each.kind == kind for each in known)
    ]
    if not tests:
        missing.append(Failure(place=str(folder / f"{name}_test.rego"), reason="has no test"))
    return Trial(
        code=check.entry.code,
        name=check.entry.name,
        tests=len(tests),
        examples=len(known),
        failures=(*missing, *measured.failures(tests), *_of_examples(check.entry.key, known, engine)),
        coverage=coverage,
        uncovered=uncovered,
    )


def _of_libraries(folder: Folder, measured: _Measured) -> Trial:
    tests = measured.of(re.compile(r"data\.site\..*"))
    rules = [file for file in folder.libraries if not file.name.endswith("_test.rego")]
    coverage, uncovered = measured.coverage(rules)
    return Trial(
        code="",
        name=LIBRARY,
        tests=len(tests),
        examples=0,
        failures=tuple(measured.failures(tests)),
        coverage=coverage,
        uncovered=uncovered,
    )


def _of_examples(key: str, known: Sequence[Example], engine: WasmEngine) -> Iterator[Failure]:
    for each in known:
        try:
            found, unknown = judged_examples.judged(each, key, engine)
        except errors.EngineError as error:
            yield Failure(place=str(each.file), reason=f"the check cannot judge it: {error}")
            continue
        if each.kind == "bad" and not found:
            yield Failure(place=str(each.file), reason="the check finds nothing in a bad example")
        if each.kind == "good" and found:
            yield Failure(
                place=str(each.file), reason=f"the check finds something in a good example: {found[0].message:.500}"
            )
        if each.kind == "unknown" and not unknown:
            yield Failure(place=str(each.file), reason="the check decides about an unknown example")


def _with_threshold(trial: Trial, least: float) -> Trial:
    if trial.coverage is None or trial.coverage >= least:
        return trial
    reason = f"tests reach {trial.coverage:.1f} % of its lines, fewer than the {least:g} % of --coverage"
    failure = Failure(place=trial.uncovered[0] if trial.uncovered else trial.name, reason=reason)
    return replace(trial, failures=(*trial.failures, failure))


def _tree(known: Mapping[str, Sequence[Example]]) -> bytes:
    """The documents as tests find them in `data.examples`: by kind, category and name."""
    by_name = {
        key.partition("/")[2]: {each.file.stem: orjson.Fragment(each.document) for each in found}
        for key, found in known.items()
    }
    return orjson.dumps({"examples": {"checks": {checks_catalogue.OWN_CATEGORY: by_name}}})
