"""The address of the page of a check, in annotations of CI systems and in editors."""

import io

import pytest
from msgspec.structs import replace

import builders
import editors
from unit.check.formats import made
from usher.check.editor import completion
from usher.check.formats import annotations
from usher.config import models
from usher.policy import assembly
from usher.policy.checks import catalogue

CHECK = catalogue.load().catalogue.checks["resources/gpu_requests_equal_limits"]
PAGES = "https://git.example.com/gpu-usher/docs/checks"


@pytest.mark.parametrize(
    ("base", "page"),
    [
        (None, ""),
        (PAGES, f"{PAGES}/gpu-requests-equal-limits.md"),
        ("https://gpu.example.com/{name}/", "https://gpu.example.com/gpu-requests-equal-limits/"),
        ("https://gpu.example.com/go/{code}", "https://gpu.example.com/go/USH103"),
    ],
)
def test_a_check_has_its_page_below_the_address_of_the_site(base: str | None, page: str) -> None:
    assert CHECK.page(base) == page


def test_a_check_of_the_site_is_not_among_the_pages_of_usher() -> None:
    assert CHECK.model_copy(update={"key": "site/gpus_per_pod"}).page(PAGES) == ""


def test_an_annotation_of_github_ends_with_the_page() -> None:
    found = made.made(made.result(made.finding()))
    check = found.results[0].findings[0].judgement.finding.check
    found = replace(found, rules={check: CHECK}, configuration=replace(found.configuration, check_pages=PAGES))
    written = io.StringIO()

    annotations.write_github(found, written)

    assert f"%0A{PAGES}/gpu-requests-equal-limits.md\n" in written.getvalue()


def test_an_editor_opens_the_page_from_the_code() -> None:
    unequal = builders.pod(builders.container(requests={builders.GPU: 1}, limits={builders.GPU: 2}))
    made = assembly.embedded(models.Config.model_validate({"checkPages": PAGES}))
    analysis = editors.analysed(editors.session(lambda: made), editors.document(editors.manifest(unequal)))

    (hover,) = completion.hovers_of_findings(analysis.diagnostics[0].range.start, analysis, editors.CATALOGUE)
    assert analysis.diagnostics[0].link == f"{PAGES}/gpu-requests-equal-limits.md"
    assert hover.links[0] == ("The page of this check", f"{PAGES}/gpu-requests-equal-limits.md")
