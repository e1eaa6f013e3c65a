"""Measures the structure of the package: modules, lines, imports, rooms, and modules that only a neighbour imports.

Run it to see a table; `--singles` lists the modules with one importer in their own folder. tests/unit/test_sizes.py
holds the limits.
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from plain_texts import statements

PACKAGE: Final = Path(__file__).parents[1] / "webhooks/usher"

FAMILY_NAMES: Final = frozenset({"read", "judge", "present", "slice", "outlook"})
"""File names that every authority may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One file of the package."""

    name: str
    """Dotted, without the name of the package: `check.sources`."""
    is_package: bool
    lines: int
    import_lines: int
    functions: Mapping[str, int]
    """The number of lines of each function, nested ones included."""
    imports: frozenset[str]
    """The modules of the package that it imports, at any depth of its code."""
    hidden_imports: int
    """How many imports stand under TYPE_CHECKING."""

    @property
    def room(self) -> str:
        """The top room; the module itself if it is not in a room."""
        return self.name.partition(".")[0]

    @property
    def folder(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


def modules(package: Path = PACKAGE) -> list[Module]:
    """All modules of a package, by name."""
    files = {_name(file, package): file for file in sorted(package.rglob("*.py"))}
    return [_module(name, file, package.name, frozenset(files)) for name, file in files.items()]


def _module(name: str, file: Path, package: str, known: frozenset[str]) -> Module:
    source = file.read_text()
    found = list(statements(ast.parse(source)))
    imports = [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]
    return Module(
        name=name,
        is_package=file.name == "__init__.py",
        lines=len(source.splitlines()),
        import_lines=sum(map(_length, imports)),
        functions={
            f"{name}:{node.name}:{node.lineno}": _length(node)
            for node in found
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        },
        imports=frozenset(_imported(imports, package, known)) - {name},
        hidden_imports=sum(
            isinstance(below, ast.Import | ast.ImportFrom)
            for node in found
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
            for below in ast.walk(node)
        ),
    )


def single_importers(found: list[Module]) -> dict[str, str]:
    """Modules that only one module imports, which stands in the same folder: each with that importer.

    The `__init__` of a family gathers its modules, `kinds.registry` the families, and every authority has the same
    modules, so these do not count.
    """
    importers = defaultdict(set)
    for module in found:
        for imported in module.imports:
            importers[imported].add(module.name)
    packages = {module.name for module in found if module.is_package}
    return {
        module.name: importer
        for module in found
        if not module.is_package and module.name.rpartition(".")[2] not in FAMILY_NAMES
        if len(importers[module.name]) == 1
        for importer in importers[module.name]
        if importer not in packages and importer.rpartition(".")[0] == module.folder and importer != "kinds.registry"
    }


def repeated_names(found: list[Module]) -> dict[str, list[str]]:
    """File names that several modules have, apart from those that every authority may have."""
    places = defaultdict(list)
    for module in found:
        stem = module.name.rpartition(".")[2]
        if not module.is_package and stem not in FAMILY_NAMES:
            places[stem].append(module.name)
    return {stem: names for stem, names in sorted(places.items()) if len(names) > 1}


def circles(found: list[Module]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others of the group."""
    sorter = TopologicalSorter({module.name: module.imports for module in found})
    try:
        sorter.prepare()
    except CycleError as error:
        return [error.args[1]]
    return []


def table(found: list[Module]) -> Iterator[tuple[str, str]]:
    """The rows of the table: what was counted, and the number."""
    lengths = sorted(length for module in found for length in module.functions.values())
    rooms = {module.room for module in found if module.name}
    yield "modules", f"{len(found):,}"
    yield "lines", f"{sum(module.lines for module in found):,}"
    yield "lines of imports", f"{sum(module.import_lines for module in found):,}"
    yield "top rooms and modules", f"{len(rooms):,}"
    yield "modules whose file name is used twice", f"{sum(len(names) for names in repeated_names(found).values()):,}"
    yield "modules with one importer, in the same folder", f"{len(single_importers(found)):,}"
    yield "longest module", f"{max(module.lines for module in found):,} lines"
    yield "longest function", f"{lengths[-1]:,} lines"
    yield "90 % of the functions have at most", f"{lengths[len(lengths) * 9 // 10]:,} lines"
    counted = Counter(module.room for module in found if "." in module.name or module.is_package)
    for room, count in sorted(counted.items()):
        if room:
            lines = sum(module.lines for module in found if module.room == room)
            yield f"room {room}", f"{count:,} modules, {lines:,} lines"


def _name(file: Path, package: Path) -> str:
    return ".".join(file.relative_to(package).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _imported(imports: Iterable[ast.Import | ast.ImportFrom], package: str, known: frozenset[str]) -> Iterator[str]:
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == package:
            parent = node.module.partition(".")[2]
            for alias in node.names:
                below = f"{parent}.{alias.name}" if parent else alias.name
                yield below if below in known else parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--singles", action="store_true", help="list the modules with one importer in their own folder")
    arguments = parser.parse_args()
    found = modules()
    if arguments.singles:
        for name, importer in single_importers(found).items():
            print(f"{name} <- {importer}")
        return
    for what, number in table(found):
        print(f"{what:<48} {number}")


if __name__ == "__main__":
    main()
