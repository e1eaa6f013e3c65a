"""`usher policies docs`: the pages of own checks."""

from pathlib import Path
from typing import Any

import pytest

import opa_server

pytestmark = [*opa_server.needs_opa, pytest.mark.process]

PAGE = Path("pages/gpus-per-team.md")


@pytest.fixture
def written(run_in: Any, tmp_path: Path) -> Path:
    """The directory of a run, with a check and its pages."""
    assert run_in("policies", "new", "gpus_per_team", "--policies", "checks", "--code", "ACME101").code == 0
    assert run_in("policies", "docs", "checks", "--output", "pages").code == 0
    return tmp_path


def test_a_page_has_the_metadata_an_example_and_the_finding_in_it(written: Path) -> None:
    page = (written / PAGE).read_text()

    assert "# ACME101 gpus-per-team\n\n**What must be, in one line.** Why it matters, in one line.\n" in page
    assert "nvidia.com/gpu: 9\n```\n\n> the pod asks for 9 of nvidia.com/gpu. Ask for fewer.\n" in page
    assert "## Prefer\n\n```yaml\n" in page
    assert "| `maximum` | `8` | What a site may set in usher.yaml. |" in page
    assert "[gpus-per-team](gpus-per-team.md) | medium |" in (written / "pages/README.md").read_text()


def test_a_page_that_is_not_up_to_date_is_named_and_not_written(run_in: Any, written: Path) -> None:
    current = run_in("policies", "docs", "checks", "--output", "pages", "--check")
    (written / PAGE).write_text("changed")
    stale = run_in("policies", "docs", "checks", "--output", "pages", "--check")

    assert (current.code, current.out) == (0, "")
    assert stale.code == 1
    assert stale.out == f"{PAGE}: is not up to date; run `usher policies docs` without --check\n"
    assert (written / PAGE).read_text() == "changed"


def test_the_page_of_a_check_that_is_gone_is_removed_and_other_files_stay(run_in: Any, written: Path) -> None:
    (written / "pages/by-hand.md").write_text("by hand")
    (written / "pages/gone.md").write_text((written / PAGE).read_text())

    run = run_in("policies", "docs", "checks", "--output", "pages")

    assert run.out == "pages: 2 pages, 0 changed, 1 removed\n"
    assert sorted(file.name for file in (written / "pages").iterdir()) == ["README.md", "by-hand.md", PAGE.name]


def test_a_manifest_cannot_end_its_block(run_in: Any, written: Path) -> None:
    example = written / "checks/gpus_per_team/examples/bad_pod.yaml"
    example.write_text(example.read_text() + "# ```\n")

    run_in("policies", "docs", "checks", "--output", "pages")

    assert "\n````yaml\napiVersion: v1\n" in (written / PAGE).read_text()
