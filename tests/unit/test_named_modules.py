"""Every module of ours that a page, a docstring or a comment names is there."""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "webhooks/usher"
CODE: Final = tuple(ROOT / name for name in ("webhooks", "tests", "tools", "benchmarks"))
PAGES: Final = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)

OTHERS: Final = re.compile(
    r"""
    (?: https?:// | \b(?:[A-Z][A-Z0-9]{1,4}|k/k): ) \S*         # an address, or a path of docs/domain/sources.md
    | (?: python3? | torchrun | deepspeed | accelerate ) [ ][^`\n]*   # what a user starts
    """,
    re.VERBOSE,
)
"""Names in a text that are not ours."""

FOREIGN: Final = frozenset({
    "tap.py",  # a library
    "audit.gatekeeper.sh",
    "gpustack_runtime/envs.py",
    "sdk/python/kfp/compiler/pipeline_spec_builder.py",
    "hyperpod_pytorch_job_unified_config.py",
    "src/sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py",
    "serve.py",
    "train.py",
})  # fmt: skip
"""Files and names of other projects, and programs of users in examples."""

OUTSIDE: Final = frozenset({"behavior", "opa_builtin0", "opa_builtin4"})
"""Names in backticks that other programs have, and that our code does not write out."""

TEXT: Final = re.compile(r'"""(?s:.*?)"""|(?<!\S)#.*')
"""A docstring or a comment of Python."""


@cache
def files() -> frozenset[str]:
    """Each end of the path of a Python file of the repository: `policy/evaluator.py` and `evaluator.py`."""
    folders = (*CODE, ROOT / "scripts", ROOT / "examples")
    paths = (file.relative_to(ROOT).parts for folder in folders for file in folder.rglob("*.py"))
    return frozenset("/".join(parts[start:]) for parts in paths for start in range(len(parts)))


@cache
def rooms() -> frozenset[str]:
    return frozenset(path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py")


@cache
def keys() -> frozenset[str]:
    """The keys of usher.yaml, of audit documents and of the values of the chart, some of which begin like a room."""
    schemas = (*sorted((ROOT / "docs").glob("*.schema.json")), ROOT / "manifests/helm/gpu-usher/values.schema.json")

    def found(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value.get("properties", ())
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from found(each)

    return frozenset(key for schema in schemas for key in found(json.loads(schema.read_text(encoding="utf-8"))))


def text_of_page(page: Path) -> str:
    """A page without the blocks that users type and see."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def source_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def texts_of_module(file: Path) -> list[str]:
    """The docstrings of a module, also those of its values, and its comments."""
    return TEXT.findall(source_of(file))


def missing_files(text: str) -> Iterator[str]:
    """The paths to Python files in a text that end no path of ours."""
    if ".py" in text:
        for path in re.findall(r"(?<![\w./*<{-])\w[\w.{},*-]*(?:/[\w.{},*-]+)*\.py\b", OTHERS.sub(" ", text)):
            if path not in FOREIGN and not is_file(path):
                yield path


def is_file(path: str) -> bool:
    """Whether a file of ours has this path, in which a word in capitals or a star stands for any name."""
    pattern = re.sub(r"[A-Z]{2,}|\*", "*", path)
    return path in files() or ("*" in pattern and any(fnmatchcase(file, pattern) for file in files()))


def missing_modules(text: str) -> Iterator[str]:
    """The dotted names in backticks that begin with a room, and lead to no module and no name in one."""
    for name in re.findall(r"`(?:usher\.)?([a-z_]+(?:\.\w+)+)(?:\(\))?`", text):
        room, *parts = name.split(".")
        is_ours = room in rooms() and parts[-1] not in {"py", "yaml", "json"} and not keys().issuperset(parts)
        if is_ours and name not in FOREIGN and not leads(name):
            yield name


@cache
def leads(name: str) -> bool:
    """Whether a dotted name is a folder or module of the package, or a name that one of them has."""
    place = PACKAGE
    for part in name.split("."):
        if (place / part).is_dir():
            place /= part
        elif (place / f"{part}.py").is_file():
            place /= f"{part}.py"
        else:
            source = place if place.is_file() else place / "__init__.py"
            return source.is_file() and re.search(rf"\b{re.escape(part)}\b", source.read_text()) is not None
    return True


def missing_named(text: str) -> Iterator[str]:
    """The names in backticks that a text calls a module and that no module has."""
    for before, after in re.findall(r"\bmodules? `(\w+)`|`(\w+)` modules?\b", text):
        name = before or after
        if f"{name}.py" not in files() and name not in rooms():
            yield name


@cache
def names() -> frozenset[str]:
    """The words of the package and the policies that are not in docstrings and comments."""
    code = [TEXT.sub("", source_of(file)) for file in PACKAGE.rglob("*.py")]
    rego = [file.read_text(encoding="utf-8") for file in (ROOT / "policies").rglob("*.rego")]
    return frozenset(re.findall(r"\w+", "\n".join(code + rego)))


def missing_names(text: str) -> Iterator[str]:
    """The names in backticks, as `composing`, that are no module of ours and stand nowhere in our code."""
    for name in re.findall(r"`([a-z]+(?:_[a-z0-9]+)*)`", text):
        if not (name in names() or f"{name}.py" in files() or name in rooms() or name in OUTSIDE):
            yield name


def missing(text: str) -> list[str]:
    return sorted({*missing_files(text), *missing_modules(text), *missing_named(text)})


def test_the_modules_that_pages_name_are_there() -> None:
    assert [f"{page.relative_to(ROOT)}: {name}" for page in PAGES for name in missing(text_of_page(page))] == []


@pytest.mark.costly
def test_the_modules_that_docstrings_and_comments_name_are_there() -> None:
    found = {
        f"{file.relative_to(ROOT)}: {name}"
        for folder in CODE
        for file in folder.rglob("*.py")
        if ROOT / "tests/data" not in file.parents
        for text in texts_of_module(file)
        for name in missing(text)
    }

    assert sorted(found) == []


@pytest.mark.costly
def test_the_names_that_docstrings_and_comments_of_the_package_hold_are_in_its_code() -> None:
    """A docstring often names a module of its folder, or a function, by its last name alone."""
    found = {
        f"{file.relative_to(PACKAGE)}: {name}"
        for file in PACKAGE.rglob("*.py")
        for text in texts_of_module(file)
        for name in missing_names(text)
    }

    assert sorted(found) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Full objects of `adapters/trainer.py`.", ["adapters/trainer.py"]),
        ("the kinds in adapters/trainer.py", ["adapters/trainer.py"]),
        ("a module `telemetry` in `server/`", ["telemetry"]),
        ("`policy.evaluator`, `usher.policy.evaluator` and `policy.evaluators`", ["policy.evaluators"]),
        ("`policy.evaluator.Evaluator` and `Evaluator.admit`", []),
        ("`policy.evaluator.Judge`", ["policy.evaluator.Judge"]),
        ("`audit.prices` of usher.yaml", []),
        ("tests/unit/ROOM/test_named_modules.py", ["tests/unit/ROOM/test_named_modules.py"]),
        ("`tests/*/test_named_modules.py` and `tests/unit/test_NAME.py`", []),
        ("TR:sdk/python/trainer.py and https://example.com/trainer.py", []),
        ("`python trainer.py --epochs 3`", []),
    ],
)
def test_a_name_that_leads_nowhere_is_found(text: str, expected: list[str]) -> None:
    assert missing(text) == expected
