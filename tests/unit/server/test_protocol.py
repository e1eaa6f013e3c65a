"""A stranger may hold little open, for a short time, over real sockets."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Self

import pytest
import uvicorn
from uvicorn.server import ServerState

from usher.server import ports
from usher.server.ports import BoundedProtocol

BOUND = 20.0
"""Seconds after which a test gives up waiting."""

HEAD = b"POST / HTTP/1.1\r\nhost: localhost\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def post(body: bytes) -> bytes:
    return HEAD + f"content-length: {len(body)}\r\n\r\n".encode() + body


class HastyProtocol(BoundedProtocol):
    arrival = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def connected(cls, port: int) -> Self:
        reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), BOUND)
        return cls(reader=reader, writer=writer)

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer, which the server sends in chunks or with its length."""
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), BOUND)).lower()
        status = int(head.split(b" ", 2)[1])
        if b"content-length: " in head:
            return status, await self.reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r")[0]))
        chunks = (await asyncio.wait_for(self.reader.readuntil(b"0\r\n\r\n"), BOUND)).split(b"\r\n")
        return status, chunks[1]

    async def ask(self, body: bytes) -> tuple[int, bytes]:
        self.writer.write(post(body))
        return await self.answer()

    async def closed(self) -> bytes:
        """The bytes until the server closes the connection."""
        with contextlib.suppress(ConnectionResetError):
            return await asyncio.wait_for(self.reader.read(), BOUND)
        return b""

    async def taken(self, piece: bytes, *, at_most: int) -> int:
        """How many bytes the server takes before it closes the connection."""
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < at_most and not self.reader.at_eof():
                self.writer.write(piece)
                sent += len(piece)
                await self.writer.drain()
        return sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    port: int
    state: ServerState
    gone: asyncio.Event
    """Set when the application was told that its client is gone."""

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        client = await Client.connected(self.port)
        try:
            yield client
        finally:
            client.writer.close()
            with contextlib.suppress(ConnectionError):
                await client.writer.wait_closed()


@contextlib.asynccontextmanager
async def listening(
    kind: type[BoundedProtocol] = BoundedProtocol, *, keep_alive: float = BOUND
) -> AsyncIterator[Listener]:
    """A server that answers with the length of the body, and to GET at once."""
    gone = asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        length, more = 0, scope["method"] != "GET"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
                return
            length += len(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(length).encode()})

    config = uvicorn.Config(application, ws="none", lifespan="off", log_config=None)
    config.timeout_keep_alive = keep_alive  # type: ignore[assignment] # a test does not wait for a whole second
    config.load()
    state = ServerState()
    # A whole uvicorn server would take a fifth of a second to end.
    server = await asyncio.get_running_loop().create_server(
        lambda: kind(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    async with server:
        yield Listener(port=server.sockets[0].getsockname()[1], state=state, gone=gone)
    await ended(state)


async def ended(state: ServerState) -> None:
    """Waits until no connection is left."""
    async with asyncio.timeout(BOUND):
        while state.connections:  # noqa: ASYNC110 - uvicorn keeps a mere set
            await asyncio.sleep(0.001)


PARTS = {
    "part of a request line": b"POST /val",
    "part of a header": HEAD + b"content-le",
    "headers without an end": HEAD,
    "part of a body": HEAD + b"content-length: 100\r\n\r\n123",
    "no byte of a body": HEAD + b"content-length: 100\r\n\r\n",
    "part of a chunk": CHUNKED + b"5\r\n123",
    "no last chunk": CHUNKED + b"5\r\n12345\r\n",
    "trailers without an end": CHUNKED + b"0\r\na: b\r\n",
    "a body that nobody reads": b"GET / HTTP/1.1\r\ncontent-length: 100\r\n\r\n123",
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("before", [0, 1], ids=["first", "second"])
async def test_a_request_that_does_not_arrive_ends_the_connection(part: bytes, before: int) -> None:
    async with listening(HastyProtocol) as listener, listener.client() as client:
        for _ in range(before):
            assert await client.ask(b"12345") == (200, b"5")
        client.writer.write(part)
        await client.closed()


class ReadyProtocol(BoundedProtocol):
    """Answers bodies that begin with a letter at once."""

    @staticmethod
    def at_once(scope: Any, body: bytes, write: Callable[[bytes], None]) -> bool:
        if not body[:1].isalpha():
            return False
        if body == b"fault":
            raise ValueError(body)
        write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        assert scope["path"] == "/"
        return True


async def test_a_request_in_one_piece_may_be_answered_at_once() -> None:
    async with listening(ReadyProtocol) as listener, listener.client() as client:
        for sent, answer in ((b"abc", b"abc"), (b"123", b"3"), (b"", b"0"), (b"d" * 5000, b"d" * 5000)):
            assert await client.ask(sent) == (200, answer)
        assert listener.state.total_requests == 4


async def test_of_requests_in_one_piece_one_is_answered_at_once_and_all_in_their_order() -> None:
    async with listening(ReadyProtocol) as listener, listener.client() as client:
        client.writer.write(post(b"abc") + post(b"defg") + post(b"1") + post(b"hi"))
        assert [await client.answer() for _ in range(4)] == [(200, text) for text in (b"abc", b"4", b"1", b"2")]
        assert await client.ask(b"jk") == (200, b"jk")


async def test_a_request_in_several_pieces_goes_to_the_application() -> None:
    whole = post(b"abcdef")
    async with listening(ReadyProtocol) as listener:
        for cut in range(1, len(whole)):
            async with listener.client() as client:
                client.writer.write(whole[:cut])
                await client.writer.drain()
                await asyncio.sleep(0.005)
                client.writer.write(whole[cut:])
                assert await client.answer() in ((200, b"6"), (200, b"abcdef"))


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.0\r\nconnection: keep-alive\r\n",
        b"POST / HTTP/1.1\r\nconnection: close\r\n",
        b"POST / HTTP/1.1\r\nexpect: 100-continue\r\n",
        b"PUT / HTTP/1.1\r\n",
        b"POST http://localhost/ HTTP/1.1\r\n",
    ],
)
async def test_an_unusual_request_goes_to_the_application(head: bytes) -> None:
    async with listening(ReadyProtocol) as listener, listener.client() as client:
        client.writer.write(head + b"host: localhost\r\ncontent-length: 3\r\n\r\nabc")
        if b"100-continue" in head:
            assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert await client.answer() == (200, b"3")


async def test_a_fault_in_a_request_in_one_piece_closes_its_connection_without_an_answer() -> None:
    async with listening(ReadyProtocol) as listener, listener.client() as client:
        client.writer.write(post(b"fault"))
        assert await client.closed() == b""


async def test_a_connection_that_was_answered_at_once_ends_at_the_end_of_keep_alive() -> None:
    async with listening(ReadyProtocol, keep_alive=0.05) as listener, listener.client() as client:
        assert await client.ask(b"abc") == (200, b"abc")
        assert await client.closed() == b""


async def test_the_application_is_told_that_its_client_is_gone() -> None:
    async with listening(HastyProtocol) as listener, listener.client() as client:
        client.writer.write(PARTS["part of a body"])

        assert await asyncio.wait_for(listener.gone.wait(), BOUND)


async def test_trickling_gains_no_time() -> None:
    async with listening(HastyProtocol) as listener, listener.client() as client:
        client.writer.write(HEAD + b"content-length: 1000000\r\n\r\n")
        closed = asyncio.create_task(client.closed())
        while not closed.done():
            with contextlib.suppress(ConnectionError):
                client.writer.write(b"x")
                await client.writer.drain()
            await asyncio.wait([closed], timeout=0.002)

        assert closed.exception() is None


async def test_a_connection_without_a_request_is_left_alone_until_the_end_of_keep_alive() -> None:
    async with listening(HastyProtocol) as listener, listener.client() as silent, listener.client() as used:
        assert await used.ask(b"1") == (200, b"1")
        async with listener.client() as slow:
            slow.writer.write(HEAD)
            await slow.closed()
        # By now the time that a request may take is over for the others as well.
        assert await silent.ask(b"12") == (200, b"2")
        assert await used.ask(b"123") == (200, b"3")


@pytest.mark.parametrize("sent", [b"", b"\r\n", post(b"12345"), post(b"12345") + b"\r\n"], ids=repr)
async def test_at_the_end_of_keep_alive_the_connection_is_closed(sent: bytes) -> None:
    async with listening(keep_alive=0.05) as listener, listener.client() as client:
        client.writer.write(sent)
        assert (await client.closed()).endswith(b"5\r\n0\r\n\r\n" if b"12345" in sent else b"")


async def test_requests_that_arrive_together_are_answered_in_their_order() -> None:
    async with listening(HastyProtocol) as listener, listener.client() as client:
        client.writer.write(post(b"1") + post(b"22") + post(b"333")[:-2])
        assert [await client.answer() for _ in range(2)] == [(200, b"1"), (200, b"2")]
        client.writer.write(b"33")
        assert await client.answer() == (200, b"3")


async def test_a_head_without_an_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "MAX_REQUEST", 2**40)
    async with listening() as listener:
        for start in (b"POST /", HEAD + b"x: ", HEAD):
            piece = b"x-header: value\r\n" * 1000 if start is HEAD else b"x" * 17_000
            async with listener.client() as client:
                client.writer.write(start)
                # What the sockets hold comes on top of what the server takes.
                assert await client.taken(piece, at_most=64 * 2**20) < 32 * 2**20
                await client.closed()


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"trailer: value\r\n" * 1000),
        (CHUNKED + b"1;extension=", b"x" * 16_000),
        (CHUNKED, b"1\r\nx\r\n" * 3000),
        (b"GET / HTTP/1.1\r\ncontent-length: 1000000000\r\n\r\n", b"x" * 16_000),
    ],
    ids=["trailers", "chunk extension", "tiny chunks", "body that nobody reads"],
)
async def test_a_request_without_an_end_is_not_read_for_ever(
    start: bytes, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "MAX_REQUEST", 2**20)
    async with listening() as listener, listener.client() as client:
        client.writer.write(start)
        assert await client.taken(piece, at_most=64 * 2**20) < 32 * 2**20
        await client.closed()


async def test_the_largest_body_that_is_read_fits_in_chunks_of_any_decent_size() -> None:
    async with listening() as listener, listener.client() as client:
        assert await client.ask(b"x" * 8 * 2**20) == (200, str(8 * 2**20).encode())
        client.writer.write(CHUNKED + (b"1000\r\n" + b"x" * 4096 + b"\r\n") * 2048 + b"0\r\n\r\n")
        assert await client.answer() == (200, str(8 * 2**20).encode())


@pytest.mark.parametrize(
    "garbage",
    [
        CHUNKED + b"xyz\r\n",
        CHUNKED + b"5\r\n123456789",
        CHUNKED + b"-1\r\n",
        CHUNKED + b"ffffffffffffffffff\r\n",
        HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
        HEAD + b"content-length: -5\r\n\r\n",
        HEAD + b"content-length: 5_0\r\n\r\n",
        HEAD + b"content-length: 99999999999999999999999999\r\n\r\n",
        HEAD + b"no colon\r\n\r\n",
        HEAD + b"bad\0name: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\n\r\n",
        b"CONNECT localhost:443 HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_refused_and_the_connection_closed(garbage: bytes) -> None:
    async with listening() as listener, listener.client() as client:
        client.writer.write(garbage)
        assert (await client.closed()).startswith(b"HTTP/1.1 400 ")


async def test_nothing_is_left_of_a_connection_that_its_client_resets() -> None:
    async with listening() as listener:
        for sent in (b"", HEAD, post(b"12345")):
            async with listener.client() as client:
                client.writer.write(sent)
                await client.writer.drain()
                if sent.endswith(b"12345"):
                    await client.answer()
                (connection,) = listener.state.connections
                assert isinstance(connection, BoundedProtocol)
                # To close a socket that lingers for no time is to reset it.
                client.writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                client.writer.transport.abort()
            await ended(listener.state)
            assert connection.timeout_keep_alive_task is None
            assert connection._deadline is None
