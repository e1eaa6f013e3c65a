"""An editor that talks to `usher lsp` as a process of its own, through the client of pygls."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

import forked_server
from integration import command

BOUND = 60.0
"""Seconds after which a test gives up waiting."""

MARKDOWN = types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])


@dataclass(frozen=True, slots=True)
class Editor:
    """A client whose server is running."""

    client: LanguageClient
    process: asyncio.subprocess.Process
    published: asyncio.Queue[types.PublishDiagnosticsParams] = field(default_factory=asyncio.Queue)
    messages: list[str] = field(default_factory=list)
    """The messages that the server asked the editor to show."""

    def open(self, uri: str, content: str, *, language: str = "yaml", version: int = 1) -> None:
        item = types.TextDocumentItem(uri=uri, language_id=language, version=version, text=content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, content: str, *, version: int) -> None:
        identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
        whole = types.TextDocumentContentChangeWholeDocument(text=content)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))

    def save(self, uri: str) -> None:
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def send(self, data: bytes) -> None:
        """Sends bytes that no client would."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def next(self, uri: str) -> types.PublishDiagnosticsParams:
        """The next diagnostics of a document; those of others are passed over."""
        async with asyncio.timeout(BOUND):
            while (found := await self.published.get()).uri != uri:
                pass
        return found

    async def codes(self, uri: str) -> list[str]:
        return [str(each.code) for each in (await self.next(uri)).diagnostics if each.code]

    async def hover(self, uri: str, position: types.Position) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
        found = await asyncio.wait_for(self.client.text_document_hover_async(params), BOUND)
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value  # type: ignore[union-attr]  # asserted above

    async def completions(self, uri: str, position: types.Position) -> list[str]:
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), position)
        found = await asyncio.wait_for(self.client.text_document_completion_async(params), BOUND)
        assert found is None or isinstance(found, types.CompletionList)
        return [] if found is None else [each.label for each in found.items]

    async def actions(
        self, uri: str, span: types.Range, *, only: Sequence[types.CodeActionKind] = ()
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext(diagnostics=[], only=list(only) or None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), span, context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(params), BOUND)
        return [each for each in found or () if isinstance(each, types.CodeAction)]

    async def ended(self) -> int:
        """The exit code of the server once it has ended."""
        return await asyncio.wait_for(self.process.wait(), BOUND)


@contextlib.asynccontextmanager
async def started(
    *arguments: str | Path,
    cwd: Path,
    encodings: Sequence[types.PositionEncodingKind] = (),
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Editor]:
    """An editor with a server in a directory; at the end it asks the server to stop."""
    client = LanguageClient("editor", "1")
    env = command.environment(**(environment or {}))
    program, *words = forked_server.command_line(env)
    await client.start_io(program, *words, "lsp", *map(str, arguments), cwd=cwd, env=env)
    process = client._server
    assert process is not None
    editor = Editor(client, process)

    def publish(params: types.PublishDiagnosticsParams) -> None:
        editor.published.put_nowait(params)

    def show(params: types.ShowMessageParams) -> None:
        editor.messages.append(params.message)

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(publish)
    client.feature(types.WINDOW_SHOW_MESSAGE)(show)
    capabilities = types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings) or None),
        text_document=types.TextDocumentClientCapabilities(hover=MARKDOWN),
    )
    try:
        params = types.InitializeParams(capabilities=capabilities, root_uri=cwd.as_uri())
        await asyncio.wait_for(client.initialize_async(params), BOUND)
        client.initialized(types.InitializedParams())
        yield editor
        if process.returncode is None:
            await asyncio.wait_for(client.shutdown_async(None), BOUND)
            client.exit(None)
            assert await editor.ended() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await client.stop()  # type: ignore[no-untyped-call]  # of pygls
