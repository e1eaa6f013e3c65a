"""In a clone without ../shared the tests run on what the repository holds, and say at the end what they left out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import kind_definitions
from shared_files import needs_shared

ROOT = Path(__file__).parents[2]
QUOTED = re.compile(r'"([a-z0-9.-]+/[a-z]+)"')
PLUGINS = ["-n0", "-p", "no:cacheprovider"]


def run(*command: str, chosen: str = "none") -> str:
    """What Python prints with USHER_TEST_SHARED."""
    environment = {**os.environ, "USHER_TEST_SHARED": chosen, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120, check=False
    )
    return done.stdout + done.stderr


def test_what_needs_the_folder_is_left_out_and_counted_by_subject() -> None:
    printed = run("-m", "pytest", *PLUGINS, "-k", "knows_every_field", "tests/unit/certs/test_cert_manager.py")

    assert "LEFT OUT: these tests need ../shared, which is not here" in printed
    assert "    4  published definitions" in printed


@needs_shared("published definitions")
def test_whatever_tests_install_has_a_definition_of_our_own() -> None:
    texts = (file.read_text(encoding="utf-8") for file in ROOT.glob("tests/e2e/*.py"))
    names = {f"{name}.yaml" for text in texts for name in QUOTED.findall(text)}
    published = {name for name in names if (kind_definitions.PUBLISHED / name).is_file()}

    assert len(published) >= 20
    assert {name for name in published if not (kind_definitions.OWN / name).is_file()} == set()


def test_any_other_choice_is_refused() -> None:
    printed = run("-c", "import shared_files", chosen="nothing")

    assert "USHER_TEST_SHARED is 'nothing': set it to `none` or unset it" in printed
