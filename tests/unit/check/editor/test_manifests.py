"""An editor shows the findings of `usher check`, at their places in the text."""

import io
import os
from pathlib import Path

import orjson
import pytest

import builders
import editors
from usher.check import findings, judging, runner, sources
from usher.check.editor import session
from usher.check.editor.documents import Diagnostic, Document, Encoding, Point, Severity
from usher.check.editor.session import Session
from usher.policy.evaluator import Evaluator

GRINNING = "\U0001f600"
CLAIMING = builders.pod(
    builders.container(claims=["a"]), resourceClaims=[{"name": "a", "resourceClaimTemplateName": "t"}]
)
DISK = builders.custom("v1", "PersistentVolumeClaim", {"accessModes": ["ReadWriteOnce"]}, name="data")
MOUNTING = builders.replaced(
    builders.deployment(
        builders.template(
            builders.container(gpus=1),
            labels={"app": "served"},
            volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        )
    ),
    "/spec/selector",
    {"matchLabels": {"app": "served"}},
)
UNEQUAL = builders.pod(builders.container(requests={builders.GPU: 1}, limits={builders.GPU: 2}))


@pytest.fixture
def asked(evaluator: Evaluator) -> Session:
    return editors.session(lambda: evaluator)


def shown(asked: Session, opened: Document, others: dict[Path, str] | None = None) -> list[Diagnostic]:
    return list(editors.analysed(asked, opened, others).diagnostics)


def by_code(found: list[Diagnostic], code: str) -> Diagnostic:
    return next(each for each in found if each.code == code)


def test_a_finding_underlines_its_value(asked: Session) -> None:
    opened = editors.document(editors.manifest(UNEQUAL))
    found = by_code(shown(asked, opened), "USH103")
    assert editors.underlined(found, opened) == "2"
    assert found.severity is Severity.ERROR
    assert found.message == (
        "Container main requests 1 of nvidia.com/gpu, but limits it to 2\nSet both to the same amount"
    )
    assert found.link == ""


@pytest.mark.parametrize("encoding", Encoding)
def test_columns_are_those_of_the_client_behind_characters_of_any_width(asked: Session, encoding: Encoding) -> None:
    content = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: m\n"
        f'    resources: {{requests: {{"é{GRINNING}": 1, nvidia.com/gpu: 1}}, limits: {{nvidia.com/gpu: 2}}}}\n'
    )
    opened = editors.document(content, encoding=encoding)
    found = by_code(shown(asked, opened), "USH103")
    before = content.splitlines()[6].index("2}}")
    wider = {Encoding.UTF_8: 4, Encoding.UTF_16: 1, Encoding.UTF_32: 0}[encoding]
    assert found.range.start == Point(6, before + wider)
    assert editors.underlined(found, opened) == "2"


def test_a_finding_in_json_underlines_its_value(asked: Session) -> None:
    value = builders.replaced(UNEQUAL, "/metadata/name", GRINNING)
    opened = editors.document(orjson.dumps(value).decode())
    assert editors.underlined(by_code(shown(asked, opened), "USH103"), opened) == "2"


def test_a_finding_behind_a_byte_order_mark_underlines_its_value(asked: Session) -> None:
    opened = editors.document(f"\ufeff{orjson.dumps(UNEQUAL).decode()}")
    assert editors.underlined(by_code(shown(asked, opened), "USH103"), opened) == "2"


def test_a_long_value_is_underlined_to_its_end(asked: Session) -> None:
    opened = editors.document(editors.manifest(builders.pod(builders.container(gpus="x" * 300))))
    assert [editors.underlined(each, opened) for each in shown(asked, opened) if not each.code] == ["x" * 300]


def test_what_usher_cannot_read_is_a_warning_without_a_code(asked: Session) -> None:
    (found,) = shown(asked, editors.document(editors.manifest(CLAIMING)))
    assert (found.severity, found.code) == (Severity.WARNING, "")
    assert found.message.startswith("Unknown to usher: ResourceClaimTemplate ml-research/t is not known here")


def test_the_findings_are_those_of_usher_check(asked: Session, evaluator: Evaluator, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(editors.manifest(UNEQUAL, builders.gpu_job(3)), encoding="utf-8")
    settings = judging.Settings(command=findings.Command.CHECK, mutated=True)
    report = runner.run(sources.read([str(file)], stdin=io.BytesIO()), evaluator=evaluator, settings=settings)
    checked = sorted(
        (finding.judgement.code, finding.place.line, finding.place.column)
        for result in report.results
        for finding in result.findings
        if finding.place is not None
    )
    found = shown(asked, editors.document(file.read_text(encoding="utf-8"), at=file))
    ours = sorted((each.code, each.range.start.line + 1, each.range.start.column + 1) for each in found if each.code)
    assert checked
    assert ours == checked


def test_the_text_of_the_editor_is_judged_and_not_the_saved_one(asked: Session, tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(editors.manifest(UNEQUAL), encoding="utf-8")
    assert shown(asked, editors.document("", at=file)) == []


def test_a_neighbour_counts(asked: Session, tmp_path: Path) -> None:
    (tmp_path / "disk.yaml").write_text(editors.manifest(DISK), encoding="utf-8")
    opened = editors.document(editors.manifest(MOUNTING), at=tmp_path / "served.yaml")
    assert [each.code for each in shown(asked, opened)] == ["USH1111"]


def test_a_neighbour_in_the_editor_hides_the_saved_one(asked: Session, tmp_path: Path) -> None:
    (tmp_path / "disk.yaml").write_text(editors.manifest(DISK), encoding="utf-8")
    opened = editors.document(editors.manifest(MOUNTING), at=tmp_path / "served.yaml")
    assert shown(asked, opened, {tmp_path / "disk.yaml": ""}) == []


def test_a_text_without_a_file_has_no_neighbours(asked: Session, tmp_path: Path) -> None:
    (tmp_path / "disk.yaml").write_text(editors.manifest(DISK), encoding="utf-8")
    remote = f"vscode-remote://host{tmp_path}/served.yaml"
    assert shown(asked, editors.document(editors.manifest(MOUNTING), at=remote)) == []


def test_neighbours_are_read_from_the_disk_or_from_the_editor(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(editors.manifest(builders.pod(name="one")), encoding="utf-8")
    (tmp_path / "two.yaml").write_text(editors.manifest(builders.pod(name="two")), encoding="utf-8")
    (tmp_path / ".hidden.yaml").write_text(editors.manifest(builders.pod(name="hidden")), encoding="utf-8")
    (tmp_path / "below").mkdir()
    (tmp_path / "below/three.yaml").write_text(editors.manifest(builders.pod(name="three")), encoding="utf-8")
    read = session.Directories(namespace="default")
    opened = {tmp_path / "two.yaml": editors.manifest(builders.pod(name="unsaved"))}
    found = read.around(tmp_path / "zero.yaml", opened, check=editors.wanted)
    assert [named.reference.name for outline in found.outlines for named in outline.named] == ["one", "unsaved"]


def test_a_neighbour_is_read_again_when_it_changes(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    read = session.Directories(namespace="default")
    names = []
    for name in ("first", "another"):
        other.write_text(editors.manifest(builders.pod(name=name)), encoding="utf-8")
        found = read.around(tmp_path / "job.yaml", {}, check=editors.wanted)
        names += [named.reference.name for outline in found.outlines for named in outline.named]
    assert names == ["first", "another"]


def test_a_large_directory_is_left_out_with_a_reason(asked: Session, tmp_path: Path) -> None:
    for number in range(session.MAX_FILES + 1):
        (tmp_path / f"{number}.yaml").touch()
    found = shown(asked, editors.document(editors.manifest(builders.pod()), at=tmp_path / "job.yaml"))
    assert any("judges this file alone" in each.message for each in found)


def test_pipes_and_unreadable_directories_hold_no_neighbours(asked: Session, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    by_code(shown(asked, editors.document(editors.manifest(UNEQUAL), at=tmp_path / "pod.yaml")), "USH103")
    outside = Path("/nowhere/at/all/pod.yaml")
    by_code(shown(asked, editors.document(editors.manifest(UNEQUAL), at=outside)), "USH103")
