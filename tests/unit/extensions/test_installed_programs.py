"""Programs are found where the user installed them, and never in the tree under review."""

import re
from pathlib import Path

import pytest

from usher import errors
from usher.extensions import installed_programs
from usher.extensions.installed_programs import find_program

PACKAGE = Path(installed_programs.__file__).parents[1]


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho Version: 1.0.0\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "../tree/bin"])
def test_a_relative_folder_of_the_search_path_brings_no_program(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, installed = tmp_path / "tree", tmp_path / "installed"
    for name in ("opa", "bin/opa", "kubectl", "bin/kubectl"):
        program(tree / name)
    monkeypatch.chdir(tree)
    monkeypatch.setenv("PATH", f"{entry}:{installed}")

    assert find_program("opa", "kubectl") is None
    with pytest.raises(errors.InputError, match="the program was not found"):
        installed_programs.find_opa(None, why="install it")

    there = program(installed / "opa")

    assert find_program("kubectl", "opa") == there
    assert installed_programs.find_opa(None, why="install it")[0] == installed / "opa"


def test_a_path_that_the_user_names_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = program(tmp_path / "tools" / "opa")
    monkeypatch.chdir(tmp_path)

    assert installed_programs.find_opa(Path("tools/opa"), why="install it") == (Path(given), "1.0.0")


def test_no_other_module_looks_for_programs() -> None:
    looking = re.compile(r"shutil\.which|from shutil import|distutils\.spawn")
    found = {path.name for path in PACKAGE.rglob("*.py") if looking.search(path.read_text(encoding="utf-8"))}

    assert found == {"installed_programs.py"}
