"""Answers of an API server: whole JSON objects, and bodies that are read as they come in."""

import contextlib
from collections.abc import Iterator
from typing import Final

import urllib3

from usher import errors, paths
from usher.cluster.api import Answer, loads
from usher.http_clients import failures

_CHUNK: Final = 64 * 2**10
_LONGEST_REFUSAL: Final = 2**20
"""The most bytes of an answer to a refused stream."""


class Stream:
    """A body that is read as it comes in."""

    def __init__(self, response: urllib3.BaseHTTPResponse, *, name: str, path: str) -> None:
        self.refusal: Answer | None = None
        self._response = response
        self._name = name
        if response.status != 200:
            with _readable(name):
                data = response.read(_LONGEST_REFUSAL)
            self.refusal = Answer(status=response.status, value=json_object(data, response, name=name, path=path))

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes in, until the server ends it.

        Raises:
            ClusterError: the connection is lost.
            StalledError: nothing came for too long.
        """
        with _readable(self._name):
            yield from self._response.stream(_CHUNK)

    def hang_up(self) -> None:
        """Wakes the thread that waits for the next bytes."""
        with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
            self._response.shutdown()


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except urllib3.exceptions.ReadTimeoutError:
        raise errors.StalledError(f"{name} has sent nothing for too long") from None
    except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
        # urllib3 raises AttributeError and ValueError where a connection is closed while it is read.
        raise errors.ClusterError(f"{name}: the connection is lost: {failures.described(error)}") from None


def json_object(data: bytes, response: urllib3.BaseHTTPResponse, *, name: str, path: str) -> paths.Object:
    """The JSON object of an answer; an empty one where the request failed without a Status.

    Raises:
        ClusterError: the request succeeded, but the answer is not a JSON object; or the port speaks TLS.
    """
    try:
        value = loads(data)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    if failures.NEEDS_TLS in data:
        raise errors.ClusterError(
            f"{name}: this port speaks TLS; write https:// into the `server` of the cluster in the kubeconfig"
        )
    if response.status >= 400:
        return {}
    raise errors.ClusterError(f"{name}: the answer to {path} is not a JSON object; is that an API server?")
