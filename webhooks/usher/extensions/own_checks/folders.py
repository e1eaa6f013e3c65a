"""The folders of own checks: one for each check, with its rule, its test and its examples, as usher's own have them.

checks/gpus_per_team/gpus_per_team.rego
checks/gpus_per_team/gpus_per_team_test.rego
checks/gpus_per_team/examples/bad_pod.yaml
checks/lib/teams.rego                          what several checks share
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from usher import errors
from usher.policy.checks import catalogue, metadata
from usher.policy.checks.catalogue import Entry

LIBRARY: Final = "lib"
MOST_CHECKS: Final = 1000
"""Checks in one directory."""
LARGEST_REGO_FILE: Final = 2**20
"""Bytes of a Rego file."""

_PACKAGE: Final = re.compile(r"^package +(\S+)", re.MULTILINE)
_TEST: Final = "_test.rego"
_CODES: Final = metadata.Codes(
    pattern=catalogue.OWN_CODE, words="a prefix of your site and a number, like ACME101; USH and USM belong to usher"
)


class Check(Struct, frozen=True, kw_only=True):
    """One check."""

    entry: Entry
    rule: Path
    text: str
    test: Path | None

    @property
    def examples(self) -> Path:
        return self.rule.parent / "examples"


class Folder(Struct, frozen=True, kw_only=True):
    """A directory of checks."""

    directory: Path
    checks: tuple[Check, ...]
    """In the order of their codes."""
    libraries: tuple[Path, ...]

    def files(self, *, tests: bool) -> Iterator[Path]:
        """The Rego files: rules and libraries, and their tests if asked for."""
        for check in self.checks:
            yield check.rule
            if tests and check.test is not None:
                yield check.test
        yield from (each for each in self.libraries if tests or not each.name.endswith(_TEST))


def is_folder(directory: Path) -> bool:
    """Whether a directory is meant as a directory of own checks."""
    return directory.is_dir() and any(
        each.is_dir() and (each / f"{each.name}.rego").is_file() for each in directory.iterdir()
    )


def read_folder(directory: Path) -> Folder:
    """The checks in a directory.

    Raises:
        InputError: a file cannot be read, or would have no effect at its place; or the directory has no check.
        BundleError: METADATA are wrong.
    """
    try:
        children = sorted(each for each in directory.iterdir() if not each.name.startswith("."))
        stray = next((each for each in children if each.is_file() and each.suffix == ".rego"), None)
    except OSError as error:
        raise errors.InputError(f"{directory}: cannot be read: {error.strerror}") from None
    if stray is not None and stray.stem == directory.name:
        raise errors.InputError(f"{directory}: is the folder of one check; give the directory above it")
    if stray is not None:
        raise errors.InputError(f"{stray}: each check has a folder of its own: move it to {stray.stem}/{stray.name}")
    folders = [each for each in children if each.is_dir()]
    checks = [_check(each) for each in folders if each.name != LIBRARY and any(each.rglob("*.rego"))]
    if not checks:
        raise errors.InputError(
            f"{directory}: no check is here; `usher policies new NAME --policies {directory}` begins one"
        )
    if len(checks) > MOST_CHECKS:
        raise errors.InputError(f"{directory}: has more than {MOST_CHECKS} checks; divide them")
    catalogue.refuse_entries((each.entry for each in checks), source=str(directory))
    return Folder(
        directory=directory,
        checks=tuple(sorted(checks, key=lambda check: (check.entry.number, check.entry.code))),
        libraries=tuple(_libraries(directory / LIBRARY)),
    )


def text_of(file: Path) -> str:
    """The text of a Rego file.

    Raises:
        InputError: it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_REGO_FILE + 1)
        if len(content) > LARGEST_REGO_FILE:
            raise errors.InputError(f"{file}: has more than {LARGEST_REGO_FILE} bytes")
        return content.decode()
    except UnicodeDecodeError:
        raise errors.InputError(f"{file}: is not UTF-8") from None
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None


def _check(folder: Path) -> Check:
    name = folder.name
    if not catalogue.OWN_NAME.fullmatch(name):
        raise errors.InputError(
            f"{folder}: name the folder in small letters, digits and underscores, like gpus_per_pod, and not X_test"
        )
    rule, test = folder / f"{name}.rego", folder / f"{name}{_TEST}"
    for file in sorted(folder.rglob("*.rego")):
        if file not in (rule, test):
            raise errors.InputError(
                f"{file}: is not used: the folder {name} holds {rule.name} and {test.name}; what checks share is in "
                f"{LIBRARY}/"
            )
    if not rule.is_file():
        raise errors.InputError(f"{folder}: has no {rule.name}, so it is not a check")
    text = text_of(rule)
    _require_package(rule, text, f"usher.checks.{catalogue.OWN_CATEGORY}.{name}")
    entry = metadata.parse_entry(text, file=rule, key=f"{catalogue.OWN_CATEGORY}/{name}", codes=_CODES)
    if problem := metadata.problem_of_kinds(entry):
        raise errors.InputError(f"{rule}: METADATA: {problem}")
    if "deny" not in metadata.rule_names(text):
        raise errors.InputError(f"{rule}: has no rule `deny contains`, so it would never find anything")
    if test.is_file():
        _require_package(test, text_of(test), f"usher.checks.{catalogue.OWN_CATEGORY}.{name}_test")
    return Check(entry=entry, rule=rule, text=text, test=test if test.is_file() else None)


def _libraries(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.rego")):
        suffix = "_test" if file.name.endswith(_TEST) else ""
        _require_package(file, text_of(file), f"site.{file.stem.removesuffix('_test')}{suffix}")
        yield file


def _require_package(file: Path, text: str, expected: str) -> None:
    """Raises InputError for a rule in another package, which would compile but never find anything."""
    found = _PACKAGE.search(text)
    if found is None or found[1] != expected:
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        raise errors.InputError(f"{file}:{line}: expected `package {expected}`")


_STEP: Final = 100
"""Each category has its own block of codes."""


def next_code(category: str, entries: Iterable[catalogue.Entry]) -> str:
    """The next free code of a category; a new category begins in the next unused hundred."""
    numbers: dict[str, list[int]] = {}
    taken: set[int] = set()
    for entry in entries:
        numbers.setdefault(entry.category, []).append(entry.number)
        taken.update(int(code.removeprefix("USH")) for code in entry.codes)
    own = numbers.get(category)
    number = max(own) + 1 if own else (max(taken, default=0) // _STEP + 1) * _STEP + 1
    while number in taken:
        number += 1
    return f"USH{number}"


def scaffold_files(category: str, name: str, code: str) -> Mapping[str, str]:
    """The files of a new check, by their paths within its folder.

    Raises:
        InputError: the category or the name cannot name a folder and a Rego package.
    """
    for text in (category, name):
        if not text.isascii() or not text.isidentifier() or text != text.lower():
            raise errors.InputError(f"{text!r}: write small letters, digits and underscores, like gpus_per_workload")
    values = {"category": category, "name": name, "code": code}
    return {
        f"{name}.rego": _fill(_RULE_TEMPLATE, values),
        f"{name}_test.rego": _fill(_TEST_TEMPLATE, values),
        "examples/bad_pod.yaml": _fill(_EXAMPLE_TEMPLATE, {**values, "gpus": "9"}),
        "examples/good_pod.yaml": _fill(_EXAMPLE_TEMPLATE, {**values, "gpus": "8"}),
    }


def write_scaffold(folder: Path, contents: Mapping[str, str]) -> None:
    """Writes the files.

    Raises:
        InputError: the folder exists already, or cannot be written.
    """
    if folder.exists():
        raise errors.InputError(f"{folder} is there already; choose another name")
    try:
        for path, text in contents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise errors.InputError(f"{folder}: cannot be written: {error.strerror}") from None


def _fill(template: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"<{name}>", value)
    return template


_RULE_TEMPLATE: Final = """\
# METADATA
# title: What must be, in one line
# description: |
#   What goes wrong otherwise, for whom, and how the rule decides; what the rule skips and why.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/
#     description: Where it is written
# schemas:
#   - input: schema.input
# custom:
#   code: <code>
#   about: accelerator pods
#   severity: medium
#   why: Why it matters, in one line.
#   parameters:
#     maximum:
#       default: 8
#       description: What a site may set in usher.yaml.
#   remediation: What to do about it.
package usher.checks.<category>.<name>

import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some name, number in pod_set.accelerators
	number > parameters.<category>.<name>.maximum

	finding := {
		"path": pod_set.specPath,
		"message": $"{workload.pod_set_name(pod_set)} asks for {number} of {name}",
		"remedy": "ask for fewer",
	}
}
"""

_TEST_TEMPLATE: Final = """\
package usher.checks.<category>.<name>_test

import data.examples.checks.<category>.<name> as examples
import data.usher.checks.<category>.<name> as check

test_what_is_wrong_is_found if {
	check.deny == {{
		"path": "/spec",
		"message": "the pod asks for 9 of nvidia.com/gpu",
		"remedy": "ask for fewer",
	}} with input as examples.bad_pod
}

test_what_is_right_is_good if {
	check.deny == set() with input as examples.good_pod
}
"""

_EXAMPLE_TEMPLATE: Final = """\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: research-nlp
spec:
  containers:
    - name: trainer
      image: registry.example.com/trainer:1
      resources:
        limits:
          nvidia.com/gpu: <gpus>
"""
