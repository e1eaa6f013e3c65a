"""An editor shows which texts are not judged, or not completely, and survives hostile texts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
import editors
import engines
from usher import errors
from usher.check.editor import documents
from usher.check.editor.documents import Diagnostic, DocumentType, Point, Severity
from usher.check.editor.session import Cancelled, Session, Site
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator

UNEQUAL = builders.pod(builders.container(requests={builders.GPU: 1}, limits={builders.GPU: 2}))
CONFIG = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"


@pytest.fixture
def asked(evaluator: Evaluator) -> Session:
    return editors.session(lambda: evaluator)


def shown(asked: Session, opened: documents.Document) -> list[Diagnostic]:
    return list(editors.analysed(asked, opened).diagnostics)


def test_broken_yaml_is_one_error_at_its_place(asked: Session) -> None:
    (found,) = shown(asked, editors.document("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n   b: c\n"))
    assert found.severity is Severity.ERROR
    assert found.range.start.line == 4
    assert "indentation" in found.message


def test_a_broken_document_keeps_the_others_of_its_text(asked: Session) -> None:
    opened = editors.document(f"apiVersion: v1\nkind: [\n---\n{editors.manifest(UNEQUAL)}")
    broken, unequal = shown(asked, opened)
    assert broken.severity is Severity.ERROR
    assert broken.range.start.line <= 2
    assert unequal.code == "USH103"


def test_broken_yaml_that_cannot_hold_an_object_is_passed_over(asked: Session) -> None:
    assert shown(asked, editors.document("// a comment\n{\n  compilerOptions: [\n")) == []


@pytest.mark.parametrize("content", ["", "\n", "# nothing\n", "on: push\njobs: {}\n", "[1, 2]", "text"])
def test_a_file_without_objects_has_no_findings(asked: Session, content: str) -> None:
    assert shown(asked, editors.document(content)) == []


def test_a_workload_without_its_version_is_named(asked: Session) -> None:
    value = {key: each for key, each in builders.gpu_job().items() if key != "apiVersion"}
    (found,) = shown(asked, editors.document(f"# a comment\n{editors.manifest(value)}"))
    assert found.severity is Severity.WARNING
    assert "no apiVersion" in found.message
    assert found.range.start.line == 1


def test_a_template_that_is_not_rendered_is_an_information(asked: Session) -> None:
    content = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n"
    (found,) = shown(asked, editors.document(content))
    assert found.severity is Severity.INFORMATION
    assert "helm template" in found.message


def test_a_template_of_a_chart_gets_one_information(asked: Session, tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").touch()
    opened = editors.document(editors.manifest(UNEQUAL), at=tmp_path / "templates/sub/pod.yaml")
    (found,) = shown(asked, opened)
    assert found.severity is Severity.INFORMATION
    assert "helm template" in found.message


def test_a_huge_document_is_not_judged(asked: Session) -> None:
    content = editors.manifest(UNEQUAL) + "#" * documents.MAX_BYTES
    (found,) = shown(asked, editors.document(content))
    assert found.severity is Severity.INFORMATION
    assert "2 MiB" in found.message


@pytest.mark.costly
def test_more_findings_than_an_editor_can_show_are_counted(asked: Session) -> None:
    content = editors.manifest(*[UNEQUAL] * 501)
    found = shown(asked, editors.document(content))
    assert len(found) == 501
    assert "more findings" in found[-1].message


def test_half_a_character_is_an_error_at_its_place(asked: Session) -> None:
    (found,) = shown(asked, editors.document('apiVersion: v1\nkind: Pod\nmetadata: {name: "\ud800"}\n'))
    assert found.severity is Severity.ERROR
    assert found.range.start == Point(2, 18)


def test_control_characters_of_a_manifest_are_escaped_in_messages(asked: Session) -> None:
    value = builders.pod(builders.container("a\u202e\x1b[31m", requests={builders.GPU: 1}, limits={builders.GPU: 2}))
    assert all(
        each.isprintable()
        for found in shown(asked, editors.document(editors.manifest(value)))
        for each in found.message.splitlines()
    )


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c.yaml", "/a b/c.yaml"),
        ("file://localhost/c.yaml", "/c.yaml"),
        ("file:///%F0%9F%98%80.yaml", "/\U0001f600.yaml"),
        ("file://other-machine/c.yaml", None),
        ("file:///nul%00.yaml", None),
        ("file:///not%FFutf8.yaml", None),
        ("file:relative.yaml", None),
        ("untitled:Untitled-1", None),
        ("git:/c.yaml?%7B%7D", None),
        ("http://[broken", None),
        ("", None),
    ],
)
def test_only_a_file_of_this_machine_has_a_path(uri: str, path: str | None) -> None:
    assert documents.path_of(uri) == (None if path is None else Path(path))


@pytest.mark.parametrize(
    ("uri", "content", "sort"),
    [
        ("file:///a/usher.yaml", "", DocumentType.CONFIGURATION),
        ("file:///a/other.yaml", CONFIG, DocumentType.CONFIGURATION),
        ("untitled:1", f"# ours\n{CONFIG}".replace("\n", "\r\n"), DocumentType.CONFIGURATION),
        ("file:///a/pod.yaml", CONFIG.replace("Config", "Report"), DocumentType.MANIFEST),
        ("file:///a/pod.yaml", "apiVersion: v1\nkind: Config\n", DocumentType.MANIFEST),
    ],
)
def test_usher_yaml_is_known_by_its_name_or_its_first_lines(uri: str, content: str, sort: DocumentType) -> None:
    assert documents.sort_of(editors.document(content, at=uri)) is sort


def test_a_fault_of_usher_is_a_warning_and_the_next_text_is_judged(evaluator: Evaluator) -> None:
    faults = iter([ZeroDivisionError("secret"), MemoryError(), RecursionError()])

    def make() -> Evaluator:
        if (fault := next(faults, None)) is not None:
            raise fault
        return evaluator

    asked = editors.session(make)
    opened = editors.document(editors.manifest(UNEQUAL))
    for _ in range(3):
        (found,) = shown(asked, opened)
        assert found.severity is Severity.WARNING
        assert "internal error" in found.message
        assert "secret" not in found.message
    assert shown(asked, opened)[0].code == "USH103"


def test_a_wrong_configuration_stops_the_judging_and_says_why(evaluator: Evaluator, tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    file.write_text("wrong")

    def make() -> Evaluator:
        if file.read_text() == "wrong":
            raise errors.ConfigError("usher.yaml", [(3, "enforcement.preset", "wrong"), (4, "pools", "worse")])
        return evaluator

    asked = editors.session(make, rests_on=[file])
    opened = editors.document(editors.manifest(UNEQUAL))
    (found,) = shown(asked, opened)
    assert found.severity is Severity.WARNING
    assert "usher.yaml:3: enforcement.preset: wrong; usher.yaml:4: pools: worse" in found.message
    file.write_text("good")
    assert shown(asked, opened)[0].code == "USH103"


def test_a_changed_configuration_judges_the_next_text(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"

    def make() -> Evaluator:
        preset = models.Enforcement.model_validate({"preset": file.read_text()})
        return assembly.embedded(models.Config(enforcement=preset))

    asked = editors.session(make, rests_on=[file])
    opened = editors.document(editors.manifest(UNEQUAL))
    severities = []
    for preset in ("recommended", "observe"):
        file.write_text(preset)
        severities.append(shown(asked, opened)[0].severity)
    assert severities == [Severity.ERROR, Severity.INFORMATION]


def test_an_evaluator_is_made_again_only_when_its_files_change(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    made = list[engines.ScriptedEngine]()

    def make() -> Evaluator:
        made.append(engines.ScriptedEngine(lambda _entrypoint: engines.result()))
        return engines.evaluator(made[-1])

    kept = Site(make, rests_on=lambda: [file])
    assert kept.evaluator() is kept.evaluator()
    file.write_text("new")
    kept.evaluator()
    assert [engine.closed for engine in made] == [True, False]


def test_an_answer_that_is_not_wanted_any_more_ends_early(asked: Session) -> None:
    def check() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        asked.analyse(editors.document(editors.manifest(UNEQUAL)), {}, check=check)


@given(st.text(alphabet=st.sampled_from("apiVersion: kind{}[]-\n\r\"'&*!|#\ufeff\U0001f600\ud800\0"), max_size=80))
def test_any_text_has_diagnostics_within_it(content: str) -> None:
    def never() -> Evaluator:
        raise errors.BundleError("not needed")

    opened = editors.document(content)
    for found in shown(editors.session(never), opened):
        assert "internal error" not in found.message
        assert Point(0, 0) <= found.range.start <= found.range.end <= opened.text.point(len(content))


def test_every_prefix_of_a_manifest_has_an_answer(asked: Session) -> None:
    content = editors.manifest(UNEQUAL)
    for length in range(0, len(content), 3):
        assert not any("internal error" in each.message for each in shown(asked, editors.document(content[:length])))


def test_judging_ends_between_two_objects_when_its_answer_is_not_wanted_any_more(asked: Session) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        asked.analyse(editors.document(editors.manifest(*[UNEQUAL] * 9)), {}, check=check)
    assert calls == 3
