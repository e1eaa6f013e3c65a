"""A bundle with one library, and what a test adds to it."""

import shutil
from pathlib import Path
from typing import Final

import opa_server

LARGE: Final = """package usher.lib.size

large if {
	input.gpus > 7
	input.gpus > 6
}
"""

NOTICES_BOTH_SIDES: Final = """
test_more_than_seven_is_large if {
	%(rule)s with input as {"gpus": 8}
	not %(rule)s with input as {"gpus": 7}
}
"""


def make(folder: Path) -> Path:
    """The folder of a bundle that has one library, without tests."""
    write(folder / "schemas" / "input.json", "{}")
    write(folder / "examples.json", '{"examples": {"checks": {"cost": {"too_large": {}}}}}')
    shutil.copy(opa_server.POLICIES / "capabilities.json", folder)
    write(folder / "usher" / "lib" / "size.rego", LARGE)
    return folder


def write(file: Path, *texts: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(texts))


def add_own_test(policies: Path, rule: str) -> None:
    """A test of the library, which passes for `size.large`."""
    tests = NOTICES_BOTH_SIDES % {"rule": rule}
    write(
        policies / "usher" / "lib" / "size_test.rego",
        "package usher.lib.size_test",
        "import data.usher.lib.size",
        tests,
    )


def add_library_between(policies: Path) -> None:
    """A library `cost`, which uses the other one."""
    text = "package usher.lib.cost\n\nimport data.usher.lib.size\n\nexpensive if size.large\n"
    write(policies / "usher" / "lib" / "cost.rego", text)


def add_check(policies: Path, library: str, rule: str) -> Path:
    """The rule file of a check that finds what a rule of a library finds, with a test."""
    folder = policies / "usher" / "checks" / "cost" / "too_large"
    imported = f"import data.usher.lib.{library}"
    write(folder / "too_large.rego", "package usher.checks.cost.too_large", imported, f"found if {library}.{rule}")
    tests = NOTICES_BOTH_SIDES % {"rule": "too_large.found"}
    write(
        folder / "too_large_test.rego",
        "package usher.checks.cost.too_large_test",
        "import data.usher.checks.cost.too_large",
        tests,
    )
    return folder / "too_large.rego"
