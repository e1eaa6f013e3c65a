"""Every mutation against the manifests in its own folder, through the real evaluator."""

from pathlib import Path
from typing import Final

import pytest
import record_findings
import yaml

from generated_examples import in_turn
from usher import paths
from usher.policy.decision import Request

POLICIES = Path(__file__).parents[2] / "policies" / "usher"


def examples(pattern: str) -> list[Path]:
    return sorted(POLICIES.glob(f"mutations/*/*/examples/{pattern}.yaml"))


UNTOUCHED: Final = examples("untouched_*")


def identify(file: Path) -> str:
    return f"{file.parts[-4]}/{file.parts[-3]}/{file.stem}"


def manifest(file: Path) -> paths.Object:
    value: paths.Object = yaml.load(file.read_bytes(), yaml.CSafeLoader)
    return value


def mutated(file: Path, value: paths.Object) -> paths.Object:
    """The file after the one mutation of its folder."""
    return record_findings.evaluator_of(file.parent).mutate(Request(value=value), only=key_of(file)).value


def key_of(file: Path) -> str:
    return f"{file.parts[-4]}/{file.parts[-3]}"


@pytest.mark.parametrize("file", examples("before_*"), ids=identify)
def test_an_example_before_becomes_the_one_after_and_stays_so(file: Path) -> None:
    after = manifest(file.with_name(file.name.replace("before_", "after_")))

    assert mutated(file, manifest(file)) == after
    assert mutated(file, after) == after


@pytest.mark.parametrize(
    "file", in_turn(UNTOUCHED, every=3, others=pytest.mark.costly), ids=[*map(identify, UNTOUCHED)]
)
def test_an_untouched_example_stays_as_it_is(file: Path) -> None:
    asked = record_findings.request_of(file)

    assert record_findings.evaluator_of(file.parent).mutate(asked, only=key_of(file)).value == asked.value


def test_every_check_and_every_mutation_has_the_examples_that_show_it() -> None:
    for kind, patterns in (("checks", ("good_*", "bad_*")), ("mutations", ("before_*", "after_*", "untouched_*"))):
        for folder in POLICIES.glob(f"{kind}/*/*"):
            for pattern in patterns:
                assert list((folder / "examples").glob(f"{pattern}.yaml")), f"{folder} has no {pattern}.yaml"
