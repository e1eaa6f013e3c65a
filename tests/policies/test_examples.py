"""Every check and mutation against the manifests in its own folder, through the real evaluator."""

from pathlib import Path

import pytest
import yaml

from usher import paths
from usher.config import models
from usher.policy import assembly, evaluator

POLICIES = Path(__file__).parents[2] / "policies" / "usher"


def examples(kind: str, pattern: str) -> list[Path]:
    return sorted(POLICIES.glob(f"{kind}/*/*/examples/{pattern}.yaml"))


def identify(file: Path) -> str:
    return f"{file.parts[-4]}/{file.parts[-3]}/{file.stem}"


def evaluator_for(file: Path) -> evaluator.Evaluator:
    site = file.parent / "usher.yaml"
    config = models.Config.model_validate(yaml.safe_load(site.read_text())) if site.exists() else models.Config()
    return assembly.embedded(config)


def manifest(file: Path) -> paths.Object:
    value: paths.Object = yaml.safe_load(file.read_text())
    return value


def findings(file: Path) -> list[str]:
    key = f"{file.parts[-4]}/{file.parts[-3]}"
    decision = evaluator_for(file).decide(evaluator.Request(value=manifest(file)))
    return [found.finding.message for found in decision.judgements if found.finding.check == key]


@pytest.mark.parametrize("file", examples("checks", "good_*"), ids=identify)
def test_a_good_example_has_no_finding_of_its_check(file: Path) -> None:
    assert findings(file) == []


@pytest.mark.parametrize("file", examples("checks", "bad_*"), ids=identify)
def test_a_bad_example_has_a_finding_of_its_check(file: Path) -> None:
    assert findings(file)


def mutated(file: Path, value: paths.Object) -> paths.Object:
    """What the one mutation in whose folder the file is makes of it."""
    key = f"{file.parts[-4]}/{file.parts[-3]}"
    return evaluator_for(file).mutate(evaluator.Request(value=value), only=key).value


@pytest.mark.parametrize("file", examples("mutations", "before_*"), ids=identify)
def test_an_example_before_becomes_the_one_after_and_stays_so(file: Path) -> None:
    after = manifest(file.with_name(file.name.replace("before_", "after_")))

    assert mutated(file, manifest(file)) == after
    assert mutated(file, after) == after


@pytest.mark.parametrize("file", examples("mutations", "untouched_*"), ids=identify)
def test_an_untouched_example_stays_as_it_is(file: Path) -> None:
    assert mutated(file, manifest(file)) == manifest(file)


def test_every_check_and_every_mutation_has_the_examples_that_show_it() -> None:
    for kind, patterns in (("checks", ("good_*", "bad_*")), ("mutations", ("before_*", "after_*", "untouched_*"))):
        for folder in POLICIES.glob(f"{kind}/*/*"):
            for pattern in patterns:
                assert list((folder / "examples").glob(f"{pattern}.yaml")), f"{folder} has no {pattern}.yaml"
