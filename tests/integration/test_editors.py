"""`usher lsp` as an editor meets it: a process of its own, with a real client at the other end of its streams."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

import builders
import editors
from integration import command, editor
from integration.editor import Editor

pytestmark = pytest.mark.process

GRINNING = "\U0001f600"
UNTITLED = editors.UNSAVED
UNEQUAL = builders.pod(builders.container(requests={builders.GPU: 1}, limits={builders.GPU: 2}))
BAD = editors.manifest(UNEQUAL)
GOOD = editors.manifest(builders.pod(builders.container(gpus=2)))
ANYWHERE = (
    "git:/a.yaml?%7B%7D",
    "vscode-notebook-cell:/a#1",
    "file:///outside/of/the/workspace/a.yaml",
    "no scheme",
    "file://server/share/a.yaml",
    "file:///nul%00.yaml",
)
SENSELESS = (
    b"{{{",
    b"\xff\xff",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":1}',
    b'{"jsonrpc":"2.0","id":77,"method":"textDocument/hover","params":{"position":{"line":-1,"character":"x"}}}',
    b'{"jsonrpc":"2.0","id":78,"method":"no/such/method","params":{}}',
    b"[" * 100_000,
)
CONFIG = "apiVersion: gpu-usher.io/v1alpha1\nkind: Config\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor and a server for several tests; each opens documents of its own."""
    async with editor.started(cwd=tmp_path_factory.mktemp("editor")) as ours:
        yield ours


@pytest.fixture
def uri(request: pytest.FixtureRequest) -> str:
    """A document that was never saved, of the test's own."""
    return f"untitled:{request.node.name}"


def start_of(found: types.PublishDiagnosticsParams, code: str) -> types.Position:
    return next(each.range.start for each in found.diagnostics if each.code == code)


async def test_a_session_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    async with editor.started(cwd=tmp_path) as ours:
        uri = (tmp_path / "pod.yaml").as_uri()
        ours.open(uri, BAD)
        found = await ours.next(uri)
        assert found.version == 1
        assert "USH103" in [each.code for each in found.diagnostics]
        assert "The API server refuses the pods" in await ours.hover(uri, start_of(found, "USH103"))
        ours.change(uri, GOOD, version=2)
        found = await ours.next(uri)
        assert found.version == 2
        assert "USH103" not in [each.code for each in found.diagnostics]
        ours.close(uri)
        assert not (await ours.next(uri)).diagnostics
    assert not (tmp_path / "pod.yaml").exists()


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_shown_is_always_about_the_text_of_its_version(running: Editor, uri: str) -> None:
    last = 29
    running.open(uri, BAD)
    for version in range(2, last + 1):
        running.change(uri, BAD if version % 2 else GOOD, version=version)
    versions = list[int]()
    while last not in versions:
        found = await running.next(uri)
        assert found.version is not None
        versions.append(found.version)
        assert ("USH103" in [each.code for each in found.diagnostics]) == (found.version % 2 == 1)
    assert versions == sorted(versions)


@pytest.mark.parametrize(
    ("encoding", "end"),
    [
        (types.PositionEncodingKind.Utf8, 31),
        (types.PositionEncodingKind.Utf16, 29),
        (types.PositionEncodingKind.Utf32, 28),
    ],
)
async def test_columns_are_in_the_units_that_the_client_chooses(
    tmp_path: Path, encoding: types.PositionEncodingKind, end: int
) -> None:
    content = f'apiVersion: gpu-usher.io/v1alpha1\nkind: Config\nfacts: {{staleAfter: 90s, "{GRINNING}": 1}}\n'
    async with editor.started(cwd=tmp_path, encodings=[encoding]) as ours:
        ours.open(UNTITLED, content)
        (found,) = (await ours.next(UNTITLED)).diagnostics
        assert (found.range.start, found.range.end) == (types.Position(2, 25), types.Position(2, end))


async def test_usher_yaml_is_checked_completed_and_explained(tmp_path: Path) -> None:
    uri = (tmp_path / "usher.yaml").as_uri()
    async with editor.started(cwd=tmp_path) as ours:
        ours.open(uri, f"{CONFIG}enforcement:\n  preset: strickt\n")
        (found,) = (await ours.next(uri)).diagnostics
        assert (found.range.start, found.range.end) == (types.Position(3, 10), types.Position(3, 17))
        assert "strict" in await ours.completions(uri, types.Position(3, 10))
        assert "pools" in await ours.completions(uri, types.Position(4, 0))
        assert "One of: observe" in await ours.hover(uri, types.Position(3, 4))


async def test_a_saved_configuration_judges_the_open_manifests_again(tmp_path: Path) -> None:
    file = tmp_path / "usher.yaml"
    async with editor.started("--config", file, cwd=tmp_path) as ours:
        ours.open(UNTITLED, BAD)
        (found,) = (await ours.next(UNTITLED)).diagnostics
        assert "cannot be read" in found.message
        file.write_text(CONFIG, encoding="utf-8")
        ours.save(file.as_uri())
        assert "USH103" in await ours.codes(UNTITLED)


async def test_facts_of_a_cluster_count(tmp_path: Path) -> None:
    queue = builders.custom("kueue.x-k8s.io/v1beta1", "LocalQueue", {"clusterQueue": "gpus"}, name="ours")
    facts = command.write(tmp_path / "facts.yaml", queue)
    job = builders.gpu_job(labels={"kueue.x-k8s.io/queue-name": "theirs"})
    for arguments, known in (((), False), (("--facts", facts), True)):
        async with editor.started(*arguments, cwd=tmp_path) as ours:
            ours.open(UNTITLED, editors.manifest(job))
            messages = " ".join(each.message for each in (await ours.next(UNTITLED)).diagnostics)
            assert ("theirs" in messages) == known


@pytest.mark.asyncio(loop_scope="module")
async def test_the_remedy_of_a_finding_is_an_edit(running: Editor, uri: str) -> None:
    running.open(uri, BAD)
    start = start_of(await running.next(uri), "USH103")
    quick = types.CodeActionKind.QuickFix
    (action,) = await running.actions(uri, types.Range(start, start), only=[quick])
    assert action.kind == quick
    assert action.edit is not None
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == 1
    titles = [each.title for each in await running.actions(uri, types.Range(start, start))]
    assert titles[1:] == [
        "Write what the mutating webhook would add",
        "Write what the webhook would add, and all safe remedies",
    ]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_document_anywhere_is_judged_alone(running: Editor) -> None:
    for uri in ANYWHERE:
        running.open(uri, BAD)
        assert "USH103" in await running.codes(uri), uri


@pytest.mark.asyncio(loop_scope="module")
async def test_positions_outside_the_text_are_answered(running: Editor, uri: str) -> None:
    running.open(uri, BAD)
    await running.next(uri)
    for position in (types.Position(10**6, 0), types.Position(0, 2**31 - 1), types.Position(2**31 - 1, 2**31 - 1)):
        assert await running.hover(uri, position) == ""
        assert await running.completions(uri, position) == []
        assert await running.actions(uri, types.Range(position, types.Position(0, 0))) is not None


async def test_requests_about_documents_that_are_not_open_are_answered(tmp_path: Path) -> None:
    file = command.write(tmp_path / "pod.yaml", UNEQUAL)
    async with editor.started(cwd=tmp_path) as ours:
        ours.change(file.as_uri(), BAD, version=9)
        ours.close("file:///never/opened.yaml")
        assert await ours.hover(file.as_uri(), types.Position(0, 0)) == ""
        assert await ours.completions("file:///etc/passwd", types.Position(0, 0)) == []
        ours.open(UNTITLED, BAD)
        assert "USH103" in await ours.codes(UNTITLED)


async def test_a_message_that_makes_no_sense_does_not_end_the_server(tmp_path: Path) -> None:
    async with editor.started(cwd=tmp_path) as ours:
        ours.send(b"nonsense\r\n\r\n")
        ours.open("x://[", BAD)
        for number, body in enumerate(SENSELESS):
            ours.send(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            uri = f"untitled:{number}"
            ours.open(uri, BAD)
            assert "USH103" in await ours.codes(uri), body


@pytest.mark.asyncio(loop_scope="module")
async def test_a_huge_document_and_half_a_document_are_answered(running: Editor, uri: str) -> None:
    running.open(uri, BAD + "# x\n" * 2**20)
    (found,) = (await running.next(uri)).diagnostics
    assert "2 MiB" in found.message
    running.change(uri, BAD[: len(BAD) // 2] + "\n  - [", version=2)
    (found,) = (await running.next(uri)).diagnostics
    assert found.severity is types.DiagnosticSeverity.Error


async def test_the_server_ends_when_the_editor_does(tmp_path: Path) -> None:
    async with editor.started(cwd=tmp_path) as ours:
        ours.open(UNTITLED, BAD)
        assert ours.process.stdin is not None
        ours.process.stdin.close()
        assert await ours.ended() == 0


def test_what_anything_prints_goes_to_standard_error() -> None:
    program = (
        "from usher.cli import check\n"
        "with check._streams() as (_, own):\n"
        "    print('stray', flush=True)\n"
        "    own.write(b'protocol')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        env=command.environment(),
        timeout=editor.BOUND,
    )
    assert (run.stdout, run.stderr) == (b"protocol", b"stray\n")


async def test_a_wrong_configuration_offers_no_changes(tmp_path: Path) -> None:
    async with editor.started("--config", tmp_path / "missing.yaml", cwd=tmp_path) as ours:
        ours.open(UNTITLED, BAD)
        await ours.next(UNTITLED)
        beginning = types.Range(types.Position(0, 0), types.Position(0, 0))
        assert await ours.actions(UNTITLED, beginning) == []
