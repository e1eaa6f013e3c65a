"""An editor explains the finding and the object under a cursor."""

from collections.abc import Iterator

import pytest

import builders
import editors
from usher.check.editor import completion
from usher.check.editor.documents import Point
from usher.check.editor.session import Session
from usher.config import models
from usher.policy import assembly

UNEQUAL = builders.pod(builders.container(requests={builders.GPU: 1}, limits={builders.GPU: 2}))


@pytest.fixture(scope="module")
def asked() -> Iterator[Session]:
    made = assembly.embedded(models.Config())
    yield editors.session(lambda: made)
    made.engine.close()


def test_a_finding_explains_its_check(asked: Session) -> None:
    opened = editors.document(editors.manifest(UNEQUAL))
    analysis = editors.analysed(asked, opened)
    place = analysis.diagnostics[0].range.start
    (found,) = completion.hovers_of_findings(place, analysis, editors.CATALOGUE)
    assert found.title == "USH103 gpu-requests-equal-limits: GPU requests equal GPU limits"
    why, _, remedy, severity = found.paragraphs
    assert why == editors.CATALOGUE.checks["resources/gpu_requests_equal_limits"].why
    assert remedy.startswith("Remedy: Set requests and limits")
    assert severity == "Severity critical; here: deny."
    assert found.links[0][1].startswith("https://kubernetes.io/")


def test_a_place_without_a_finding_has_no_explanation(asked: Session) -> None:
    analysis = editors.analysed(asked, editors.document(editors.manifest(UNEQUAL)))
    assert list(completion.hovers_of_findings(Point(0, 0), analysis, editors.CATALOGUE)) == []


def hovers(asked: Session, content: str, line: int) -> list[completion.Hover]:
    analysis = editors.analysed(asked, editors.document(content))
    return list(completion.hovers_of_findings(Point(line, 2), analysis, editors.CATALOGUE))


def test_the_line_of_a_kind_says_what_usher_reads_and_what_the_webhook_adds(asked: Session) -> None:
    first = editors.manifest(builders.pod(name="first"))
    content = f"{first}---\n# second\n{editors.manifest(builders.gpu_job(8, pods=4, name='second'))}"
    line = content[: content.index("kind: Job")].count("\n")
    (found,) = hovers(asked, content, line)
    assert found.title == "Job ml-research/second"
    assert found.paragraphs[0] == "usher reads: role batch, 4 pods, 32 GPUs."
    assert found.paragraphs[1].startswith("The mutating webhook adds (")
    assert "nvidia.com/gpu" in " ".join(found.paragraphs)
    assert (found.range.start.line, found.range.start.column) == (line, 6)
    assert hovers(asked, content, line + 1) == []


def test_an_object_that_makes_no_pods_says_nothing(asked: Session) -> None:
    assert hovers(asked, editors.manifest(builders.custom("v1", "ConfigMap", {}, name="a")), 1) == []


def test_a_text_without_objects_says_nothing(asked: Session) -> None:
    assert hovers(asked, "kind: [", 0) == []
