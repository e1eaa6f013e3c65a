"""Misspelt manifests of many kinds: `usher check` reports each, and passes the right ones."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from integration.command import usher

pytestmark = pytest.mark.costly

_FILE: Final = Path(__file__).parents[1] / "data" / "misspelt.yaml"
_CHECKS: Final = {
    "USH101",
    "USH104",
    "USH1050",
    "USH115",
    "USH1235",
    "USH1232",
    "USH1481",
    "USH1482",
    "USH1483",
    "USH1493",
    "USH1494",
    "not judged",
    "unreadable",
}


def cases() -> list[tuple[str, str, str]]:
    """The kind of each manifest, the mistake (empty for the right manifest), and its text, which may have others."""
    found = []
    for each in yaml.safe_load(_FILE.read_text()):
        kind = next(yaml.safe_load_all(each["manifest"])).get("kind", "PipelineSpec")
        found.append((kind, "", each["manifest"]))
        for mistake in each["mistakes"]:
            right, _, wrong = mistake.partition(" => ")
            assert right in each["manifest"], mistake
            found.append((kind, mistake, each["manifest"].replace(right, wrong, 1)))
    return found


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, list[str]]]:
    """The codes that the check finds in each manifest, all in one run."""
    folder = tmp_path_factory.mktemp("misspelt")
    written = cases()
    for number, (_, _, text) in enumerate(written):
        (folder / str(number)).mkdir()
        (folder / str(number) / "one.yaml").write_text(text)
    report: dict[str, Any] = usher("check", "--format", "json", folder).json
    found: list[tuple[str, str, list[str]]] = [(kind, mistake, []) for kind, mistake, _ in written]
    for workload in report["workloads"]:
        codes = found[int(Path(workload["source"]).parent.name)][2]
        codes += [each["code"] for each in workload["findings"]]
        reasons = [each["reason"] for each in workload["unknowns"]]
        codes += ["not judged" for each in reasons if each.endswith(": not judged")]
        codes += ["unreadable" for each in reasons if "expected " in each or "is not a quantity" in each]
    return found


def test_there_are_many_mistakes_in_many_kinds() -> None:
    wrong = [kind for kind, mistake, _ in cases() if mistake]
    assert len(wrong) >= 220
    assert len(set(wrong)) >= 30


def test_no_misspelt_manifest_is_green(reported: list[tuple[str, str, list[str]]]) -> None:
    assert [(kind, mistake) for kind, mistake, codes in reported if mistake and _CHECKS.isdisjoint(codes)] == []


def test_the_right_manifests_have_no_key_or_value_that_is_reported(
    reported: list[tuple[str, str, list[str]]],
) -> None:
    assert [(kind, codes) for kind, mistake, codes in reported if not mistake and not _CHECKS.isdisjoint(codes)] == []
