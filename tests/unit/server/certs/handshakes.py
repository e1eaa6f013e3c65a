"""Real TLS over loopback: a server that echoes lines, and clients that say which certificate they saw."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator

from cryptography import x509
from cryptography.hazmat.primitives import serialization

BOUND = 20.0
"""Seconds after which a test gives up waiting."""


def client_context(*authorities: x509.Certificate, strict: bool = True) -> ssl.SSLContext:
    """A client that trusts only these; if strict, it wants every extension that RFC 5280 asks for."""
    context = ssl.create_default_context(
        cadata="".join(one.public_bytes(serialization.Encoding.PEM).decode() for one in authorities)
    )
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # on by default from Python 3.13
    if strict:
        context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


@contextlib.asynccontextmanager
async def listening(context: ssl.SSLContext) -> AsyncIterator[int]:
    """The port of a server that sends each line back."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            async for line in reader:
                writer.write(line)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


@contextlib.asynccontextmanager
async def connected(
    port: int, context: ssl.SSLContext, *, name: str
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """An open connection to the server under `name`; an IP address sends no SNI."""
    reader, writer = await asyncio.wait_for(
        asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name), BOUND
    )
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await asyncio.wait_for(writer.wait_closed(), BOUND)


async def serial_seen(port: int, context: ssl.SSLContext, *, name: str = "localhost") -> int:
    """The serial number of the certificate that a new connection is shown, after a line has gone to and fro."""
    async with connected(port, context, name=name) as (reader, writer):
        assert await echoed(reader, writer, b"hello\n") == b"hello\n"
        connection = writer.get_extra_info("ssl_object")
        return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True)).serial_number


async def echoed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes) -> bytes:
    """The answer to a line."""
    writer.write(line)
    await writer.drain()
    return await asyncio.wait_for(reader.readline(), BOUND)
