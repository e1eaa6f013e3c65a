"""Requests for a running server, and readers of its answers."""

import contextlib
import ssl

from builders import container, pytorch_job, template

GPU = "nvidia.com/gpu"
BAD_JOB = pytorch_job(template(container("pytorch", requests={GPU: 8}, limits={GPU: 4})), workers=7)


def head(path: str, *headers: str) -> bytes:
    """The head of a POST, line by line."""
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: usher", *headers, "", ""]).encode()


def received(connection: ssl.SSLSocket) -> bytes:
    """All that comes until the server closes the connection, however it does so."""
    parts = []
    with contextlib.suppress(ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)
