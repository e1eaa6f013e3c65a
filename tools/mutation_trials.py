"""Copies in which a policy is changed and tested: the policy, its tests, and everything that they need.

A library is judged by its own test, and then by the tests of all checks and mutations that use it, with the documents
of policies/examples.json.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import try_check

LIBRARY: Final = "lib"
GENERATED: Final = "parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A copy of a policy, with the arguments of opa to check it and to test it until a test notices."""

    rule: Path
    check: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]


def sources(policies: Path) -> Iterator[tuple[str, Path]]:
    """Every policy by its key, as `category/name` and `lib/name`."""
    for test in sorted(policies.glob("usher/*/*/*/*_test.rego")):
        yield f"{test.parent.parent.name}/{test.parent.name}", test.parent / f"{test.parent.name}.rego"
    for file in sorted((policies / "usher" / LIBRARY).glob("*.rego")):
        if not file.stem.endswith("_test") and file.stem != GENERATED:
            yield f"{LIBRARY}/{file.stem}", file


def files_of(source: Path) -> list[Path]:
    """The rule and the tests of a policy."""
    if source.parent.name != LIBRARY:
        return sorted(source.parent.glob("*.rego"))
    test = source.with_name(f"{source.stem}_test.rego")
    return [source, test] if test.exists() else [source]


def prepare(policies: Path, source: Path, copy: Path) -> Trial:
    if source.parent.name == LIBRARY:
        return prepare_library(policies, source.stem, copy)
    trial = try_check.prepare(policies, source.parent, copy)
    return Trial(rule=trial.rule, check=trial.check, tests=(trial.test,))


def prepare_library(policies: Path, name: str, copy: Path) -> Trial:
    """Copies a library, the rules that use it, and everything that they need into an empty folder."""
    own, *tests_of_own = files_of(policies / "usher" / LIBRARY / f"{name}.rego")
    folders = users_of(policies, name)
    needed = {name} | try_check.libraries(policies, [own, *tests_of_own])
    in_folders = try_check.libraries(policies, (file for folder in folders for file in folder.glob("*.rego")))
    try_check.copy_libraries(policies, needed | in_folders, copy)
    for folder in folders:
        shutil.copytree(folder, copy / folder.relative_to(policies), ignore=shutil.ignore_patterns("examples"))
    examples = copy / "examples.json"
    examples.write_text(json.dumps({"examples": examples_of(policies, folders)}), encoding="utf-8")
    library = copy / "usher" / LIBRARY
    alone = [str(library / f"{each}.rego") for each in sorted(needed)]
    tests: list[tuple[str, ...]] = []
    for test in tests_of_own:
        shutil.copy(test, library)
        own_tests = rf"^data\.usher\.lib\.{name}_test\."
        tests.append(("test", "--run", own_tests, *alone, str(library / test.name), str(examples)))
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


def users_of(policies: Path, library: str) -> list[Path]:
    """The folders of the checks and mutations that use a library, directly or through another one."""
    return [
        source.parent
        for _, source in sources(policies)
        if source.parent.name != LIBRARY and library in try_check.libraries(policies, source.parent.glob("*.rego"))
    ]


def examples_of(policies: Path, folders: Sequence[Path]) -> dict[str, Any]:
    """The part of the examples that the tests of these folders read."""
    everything = json.loads((policies / "examples.json").read_bytes())["examples"]
    found: dict[str, Any] = {}
    for folder in folders:
        kind, category, name = folder.relative_to(policies / "usher").parts
        found.setdefault(kind, {}).setdefault(category, {})[name] = everything[kind][category][name]
    return found
