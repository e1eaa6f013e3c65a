"""The beginning of a new check."""

from pathlib import Path

import pytest

from usher import errors
from usher.extensions.own_checks import folders
from usher.policy.checks import catalogue


def entry(category: str, code: str) -> catalogue.Entry:
    return catalogue.Entry(key=f"{category}/x{code}", code=code, title="", description="")


ENTRIES = [entry("resources", "USH101"), entry("resources", "USH104"), entry("isolation", "USH201")]


@pytest.mark.parametrize(
    ("category", "code"), [("resources", "USH105"), ("isolation", "USH202"), ("brand_new", "USH301")]
)
def test_the_next_code_follows_those_of_its_category(category: str, code: str) -> None:
    assert folders.next_code(category, ENTRIES) == code


def test_a_category_that_is_full_goes_on_behind_its_neighbour() -> None:
    full = [entry("resources", "USH200"), entry("isolation", "USH201")]

    assert folders.next_code("resources", full) == "USH202"


def test_a_former_code_is_never_used_again() -> None:
    joined = entry("resources", "USH104").model_copy(update={"aliases": ("USH105", "former-name", "USH1306")})

    assert folders.next_code("resources", [joined]) == "USH106"
    assert folders.next_code("brand_new", [joined]) == "USH1401"


def test_the_first_check_of_all_has_a_code() -> None:
    assert folders.next_code("resources", []) == "USH101"


def test_a_new_check_has_rule_test_and_examples(tmp_path: Path) -> None:
    folders.write_scaffold(tmp_path / "cost" / "gpus", folders.scaffold_files("cost", "gpus", "USH1399"))

    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert written == [
        "cost/gpus/examples/bad_pod.yaml",
        "cost/gpus/examples/good_pod.yaml",
        "cost/gpus/gpus.rego",
        "cost/gpus/gpus_test.rego",
    ]
    assert "code: USH1399" in (tmp_path / "cost/gpus/gpus.rego").read_text()


def test_a_check_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    folders.write_scaffold(tmp_path / "gpus", folders.scaffold_files("cost", "gpus", "USH1399"))

    with pytest.raises(errors.InputError, match="is there already"):
        folders.write_scaffold(tmp_path / "gpus", folders.scaffold_files("cost", "gpus", "USH1400"))


@pytest.mark.parametrize("name", ["gpu-count", "Gpus", "../gpus", "1gpu", "", "gpüs"])
def test_a_name_that_no_package_can_have_is_refused(name: str) -> None:
    with pytest.raises(errors.InputError, match="small letters"):
        folders.scaffold_files("cost", name, "USH1399")
