"""Every remedy removes its finding from an example of its check, and says so where there is a choice."""

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from generated_examples import in_turn
from usher.check import findings, judging, runner, sources
from usher.check.fix import remedies, rounds
from usher.config import models
from usher.policy import assembly
from usher.policy.checks import catalogue

CHECKS = Path(__file__).parents[4] / "policies/usher/checks"
SETTINGS = judging.Settings(command=findings.Command.CHECK, mutated=True, diff=True)


Fix = Callable[[Path, str], rounds.Fixed]
"""Applies the remedies of one check to a file, without writing it."""


@pytest.fixture(scope="module")
def fixed() -> Iterator[Fix]:
    config = models.Config.model_validate({"enforcement": {"preset": "strict"}})
    evaluator = assembly.embedded(config, file=None)

    def fix(file: Path, check: str) -> rounds.Fixed:
        return rounds.fix(
            list(sources.read([str(file)], stdin=io.BytesIO())),
            judge=lambda batches: runner.run(batches, evaluator=evaluator, settings=SETTINGS),
            read=lambda batch: Path(batch.source).read_bytes(),
            choice=remedies.Choice(
                sources=(remedies.WishSource.REMEDIES,), keys=(check,), names=remedies.names_of_devices()
            ),
        )

    with contextlib.closing(evaluator.engine):
        yield fix


def number(report: findings.Report, check: str) -> int:
    return sum(each.judgement.finding.check == check for result in report.results for each in result.findings)


def test_every_remedy_belongs_to_a_check() -> None:
    assert remedies.REMEDIES.keys() <= catalogue.load().catalogue.checks.keys()


def test_the_page_lists_every_remedy_by_code_and_name() -> None:
    page = (Path(__file__).parents[4] / "docs/fix.md").read_text()
    entries = catalogue.load().catalogue.checks
    wanted = [f"| [{entries[key].code}](checks/{entries[key].name}.md)" for key in remedies.REMEDIES]

    assert [row for row in wanted if row not in page] == []
    assert page.count("| [USH") == len(wanted)


# A misspelt name of an accelerator has a test of its own: the examples hold names that have no near one.
@pytest.mark.parametrize(
    "check",
    in_turn(
        sorted(remedies.REMEDIES.keys() - {"resources/unknown_accelerator_name"}), every=3, others=pytest.mark.costly
    ),
)
def test_a_remedy_removes_its_finding_from_an_example_of_its_check(fixed: Fix, check: str) -> None:
    files = sorted((CHECKS / check / "examples").glob("bad*.yaml"))
    found = [(number(each.before, check), number(each.after, check)) for each in (fixed(file, check) for file in files)]

    assert any(before and not after for before, after in found)
    assert all(after <= before for before, after in found)


def pod(folder: Path, name: str, amount: str = "1") -> Path:
    file = folder / "pod.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: m\n    image: x\n"
        f"    resources:\n      requests:\n        {name}: {amount}\n      limits:\n        {name}: {amount}\n"
    )
    return file


def test_a_misspelt_name_is_corrected_in_requests_and_limits(fixed: Fix, tmp_path: Path) -> None:
    file = pod(tmp_path, "nvidia.com/gpus")

    done = fixed(file, "resources/misspelt_accelerator_name")

    assert done.files[0].content == file.read_bytes().replace(b"gpus", b"gpu")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("nvidia.com/GPU", "nvidia.com/gpu"),
        ("nvidia.com/gup", "nvidia.com/gpu"),
        ("nvdia.com/gpu", "nvidia.com/gpu"),
        ("nvidia.com/accelerator", ""),
        ("gpu", ""),
        ("x" * 5000, ""),
    ],
)
def test_one_wrong_letter_has_one_meaning(name: str, meant: str) -> None:
    assert remedies.meant_name(name, remedies.names_of_devices()) == meant


def test_between_two_near_names_usher_does_not_choose() -> None:
    assert not remedies.meant_name("a.com/gpx", {"a.com/gpu", "a.com/gpy"})


def test_a_remedy_that_makes_usher_deny_something_else_is_taken_back(fixed: Fix) -> None:
    done = fixed(CHECKS / "mig/profile_misspelt/examples/bad_mpijob.yaml", "mig/profile_misspelt")

    (file,) = done.files
    (left,) = file.left
    assert not file.changed
    assert left.judged
    assert left.reason.startswith("usher would then report USH70")


def test_a_misspelt_key_gets_the_name_that_was_meant_and_keeps_its_value(fixed: Fix, tmp_path: Path) -> None:
    text = pod(tmp_path, "nvidia.com/gpu").read_bytes()
    file = tmp_path / "misspelt.yaml"
    file.write_bytes(text.replace(b"resources:", b"resource:  # ours"))

    (done,) = fixed(file, "objects/deciding_key_unread").files

    assert b"resources:" in done.content
    assert b"resource:" not in done.content
    assert yaml.safe_load(done.content) == yaml.safe_load(text)


def test_a_key_whose_right_name_is_there_too_is_not_renamed(fixed: Fix, tmp_path: Path) -> None:
    file = pod(tmp_path, "nvidia.com/gpu")
    file.write_text(file.read_text() + "    resource: {}\n")

    assert [each.content for each in fixed(file, "objects/deciding_key_unread").files] in ([], [file.read_bytes()])
