"""`usher config`: the configuration file before anybody uses it."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from integration.command import EXAMPLES, config, usher


def test_a_good_file_is_called_good() -> None:
    done = usher("config", "check", EXAMPLES / "usher.yaml")

    assert (done.code, done.out) == (0, f"{EXAMPLES / 'usher.yaml'}: good\n")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("sites/*.yaml")), ids=lambda file: file.stem)
def test_the_example_sites_are_good(file: Path) -> None:
    done = usher("config", "check", file)

    # Entries of the site volcano-mixed overlap on purpose.
    said = "usable, with 1 warning" if file.stem == "volcano-mixed" else "good"
    assert (done.code, done.out) == (0, f"{file}: {said}\n")


def test_a_file_with_an_expired_exception_is_usable_but_not_called_good(tmp_path: Path) -> None:
    exception = {"checks": ["USH103"], "owner": "nlp", "reason": "r", "ticket": "T-1", "expires": "2026-01-01"}
    file = config(tmp_path / "usher.yaml", enforcement={"exceptions": [exception]})

    done = usher("config", "check", file)

    assert (done.code, done.out) == (0, f"{file}: usable, with 1 warning\n")
    assert "enforcement.exceptions[0].expires: the exception expired on 2026-01-01, so it covers nothing" in done.err


def test_an_empty_file_is_not_good(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.touch()

    done = usher("config", "check", file)

    assert done.code == 2
    assert done.err == (
        f"usher: {file}:1: the file is empty; begin it with apiVersion: gpu-usher.io/v1alpha1 and kind: Config\n"
    )


def test_a_check_that_does_not_exist_is_named(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    config(file, enforcement={"rules": [{"check": "gpu-memory-limit", "action": "warn"}]})

    done = usher("config", "check", file)

    assert done.code == 2
    assert done.err == (
        f"usher: {file}:5: enforcement.rules[0].check: there is no check 'gpu-memory-limit'; "
        "did you mean shared-memory-above-limit? `usher policies list` shows all\n"
    )


def test_the_schema_takes_the_example_and_is_the_one_that_is_checked_in() -> None:
    done = usher("config", "schema")

    jsonschema.validate(yaml.safe_load((EXAMPLES / "usher.yaml").read_text()), done.json)
    assert done.out == (EXAMPLES.parent / "docs" / "usher.schema.json").read_text()
