"""`usher check` with an OPA server instead of the embedded engine."""

from pathlib import Path

import pytest

import opa_server
from integration.command import BAD_EXAMPLE, usher

pytestmark = [*opa_server.needs_opa, pytest.mark.process]


@pytest.mark.parametrize("form", ["text", "json"])
def test_both_engines_report_the_same(tmp_path: Path, form: str) -> None:
    arguments = ("check", BAD_EXAMPLE, "--diff", "--format", form)

    with opa_server.running(tmp_path, opa_server.POLICIES / "usher") as url:
        by_opa = usher(*arguments, "--engine", "opa", "--opa-url", url, cwd=tmp_path)

    assert by_opa.code == 1
    assert by_opa == usher(*arguments, cwd=tmp_path)


def test_check_reports_an_opa_server_without_our_policies_before_it_judges_anything(tmp_path: Path) -> None:
    with opa_server.running(tmp_path) as url:
        run = usher("check", BAD_EXAMPLE, "--engine", "opa", "--opa-url", url, cwd=tmp_path)

    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("usher: rule usher/")
    assert "load the policies of this release into it" in run.err
