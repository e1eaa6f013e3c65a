"""A kind is one record: every table follows from it, and no other module says again which kinds are special."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import compile_tables
import pytest

import usher
from usher.kinds import registry

PACKAGE: Final = Path(usher.__file__).parent

KINDS_OF_WORKLOADS: Final = frozenset(kind for _, kind in registry.WORKLOADS)

EXAMPLES: Final = "config/sections.py"
"""Shows users how to write a list of kinds."""


@cache
def literals() -> list[tuple[str, list[object]]]:
    """The literal values of sets, lists, tuples and dictionaries outside of kinds, with their modules."""
    paths = (path for path in sorted(PACKAGE.rglob("*.py")) if "kinds" not in path.relative_to(PACKAGE).parts)
    return [(path.relative_to(PACKAGE).as_posix(), held) for path in paths for held in held_by(path)]


def held_by(path: Path) -> Iterator[list[object]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            yield [value(each) for each in node.elts]
        elif isinstance(node, ast.Dict):
            yield [value(each) for each in node.keys]


def value(node: ast.expr | None) -> object:
    """A constant, or a tuple of constants."""
    if isinstance(node, ast.Tuple):
        return tuple(value(each) for each in node.elts)
    return node.value if isinstance(node, ast.Constant) else None


def test_every_table_follows_from_the_records() -> None:
    kinds = {kind.group_and_kind: kind for kind in registry.KINDS}

    assert kinds == registry.BY_KEY
    assert {key for key, kind in kinds.items() if kind.pods} == set(registry.WORKLOADS) == set(registry.PODS)
    assert {key for key, kind in kinds.items() if kind.key} == set(registry.SHAPES)
    assert set(registry.SHAPES) - set(registry.WORKLOADS) == set(registry.OBJECTS)
    assert {key for key, kind in kinds.items() if kind.facts} == set(registry.FACTS)
    assert {key for key, kind in kinds.items() if kind.bounds_nodes} == registry.BOUNDS_OF_NODES
    assert {key: kind.scale for key, kind in kinds.items() if kind.scale} == registry.SCALES
    assert {kind.group_and_kind for kind in registry.LISTED} <= {*registry.WORKLOADS, *registry.OBJECTS}


HOLDING: Final = {
    "authorities/kai.py": "kinds whose pods KAI-Scheduler groups in one way",
    "config/described_kinds.py": "kinds of documents that describe other kinds",
    "check/surroundings.py": "kinds whose objects in files prove something",
    "workloads/fingerprints.py": "kinds whose like objects are judged once",
}
"""Modules that hold sets of kinds for what no record of a kind says."""


@pytest.mark.costly
def test_no_other_module_holds_a_set_of_kinds() -> None:
    sets = {
        module: held
        for module, held in literals()
        if sum(each in registry.BY_KEY for each in held if isinstance(each, tuple)) > 1 and module not in HOLDING
    }

    assert sets == {}


@pytest.mark.costly
def test_no_other_module_lists_kinds_of_workloads_by_name() -> None:
    lists = {
        module
        for module, held in literals()
        if sum(each in KINDS_OF_WORKLOADS for each in held if isinstance(each, str)) > 1 and module not in HOLDING
    }

    assert lists == {EXAMPLES}


RECORD: Final = """- kind: Gadget.example.com
  versions: [v1]
  pods:
    template_paths: [spec.template]
    counted: "`replicas` (1 if missing)"
    source: this test
    kueue_unit: WHOLE
    starts: TOGETHER
    shrinks: true
"""

FAMILY: Final = '''"""example.com: kinds of nobody."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Reading


def _templates(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(value.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    count = model.Count(minimum=replicas, maximum=replicas)
    yield pod_template(Place(spec.get("template"), "/spec/template"), reading, count=count)


CODE = {"Gadget.example.com": {"templates": _templates}}
'''

DESCRIPTION: Final = """- kind: Widget.example.com
  versions: [v1]
  role: service
  counted: "`replicas` (1 if missing)"
  source: this test
  podSets: [{podTemplate: spec.template, pods: "at(object, 'spec.replicas', 1)"}]
"""

MANIFEST: Final = """apiVersion: example.com/v1
kind: {kind}
metadata: {{name: example, namespace: research}}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: main
        image: registry.example.com/main:1
        resources: {{limits: {{nvidia.com/gpu: 2}}}}
"""


def new_family(package: Path) -> str:
    """Adds a module with the code of one kind, its lines to the registry, and the record of the kind."""
    (package / "kinds/example.py").write_text(FAMILY, encoding="utf-8")
    replace(package / "kinds/registry.py", "    dynamo,\n", "    dynamo,\n    example,\n")
    replace(package / "kinds/registry.py", "spark, tekton),\n", "spark, tekton, example),\n")
    records = package / "kinds/records.yaml"
    records.write_text(records.read_text(encoding="utf-8") + RECORD, encoding="utf-8")
    records.with_suffix(".json").write_bytes(compile_tables.table(records))
    return "Gadget"


def new_kind(package: Path) -> str:
    """Adds a description to those of one subject."""
    folder = package / "kinds/descriptions"
    serving = folder / "serving.yaml"
    serving.write_text(serving.read_text(encoding="utf-8") + DESCRIPTION, encoding="utf-8")
    (folder / "descriptions.json").write_bytes(compile_tables.compiled(folder))
    return "Widget"


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands once in {file}"
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.costly
@pytest.mark.parametrize("add", [pytest.param(new_kind, marks=pytest.mark.thorough), new_family])
def test_a_new_kind_touches_only_what_the_map_of_rooms_names(add: Callable[[Path], str], tmp_path: Path) -> None:
    """CONTRIBUTING.md: a description in `kinds/descriptions/`; a new family of records also in `kinds/registry.py`."""
    shutil.copytree(PACKAGE, tmp_path / "usher")
    kind = add(tmp_path / "usher")
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(MANIFEST.format(kind=kind), encoding="utf-8")

    shown = subprocess.run(
        [sys.executable, "-m", "usher", "workload", "show", str(manifest)],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert f"{kind} research/example (example.com/v1)" in shown
    assert "pods            3\n" in shown
    assert "6 nvidia.com/gpu" in shown
