"""Requests to an API server and their answers. Tests put an API server of their own behind these protocols."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Final, Protocol

import orjson

from usher import paths
from usher.dataclass import dataclass

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of the API server; `value` is its JSON object, a Status if the request failed."""

    status: int
    value: paths.Object

    @property
    def message(self) -> str:
        """The reason of a failure, in the server's words."""
        message = self.value.get("message")
        return message if isinstance(message, str) and message else f"HTTP status {self.status}"


class Stream(Protocol):
    """An answer whose body arrives over time, until the server ends it."""

    @property
    def refusal(self) -> Answer | None:
        """The whole answer if the server refused the request; None otherwise."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes in, until the server ends it.

        Raises:
            ClusterError: the connection is lost.
            StalledError: nothing came for too long.
        """
        ...


class Lists(Protocol):
    """Requests that are answered as a whole."""

    @property
    def name(self) -> str:
        """The name of the cluster in messages."""
        ...

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        """The answer to a GET request, whatever its status. Raises ClusterError where the server does not answer."""
        ...


class Api(Lists, Protocol):
    """Requests that are answered as a whole or as a stream."""

    def stream(
        self, path: str, *, query: Mapping[str, str], silence: float, accept: str = JSON
    ) -> AbstractContextManager[Stream]:
        """The answer to a GET request as it comes; `silence` is the longest pause in seconds.

        Raises ClusterError where the server does not answer.
        """
        ...


def root(group: str, version: str) -> str:
    """The path of a version of a group."""
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def loads(data: bytes) -> paths.Json:
    """The value of JSON. Where orjson is too strict (half surrogates, large integers), the slower standard library
    reads it.

    Raises:
        ValueError: it is not JSON, or is nested too deeply.
    """
    value: paths.Json
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None
    return value


LONGEST: Final = 16 * 2**20
"""Bytes of a line. An object in etcd has at most 1.5 MiB, and its JSON a few times as much."""


class CutShortError(ValueError):
    """The stream ended within a line."""


class TooLongError(ValueError):
    """A line is longer than any object can be."""


def lines(chunks: Iterable[bytes], *, longest: int = LONGEST) -> Iterator[bytes]:
    """The lines of a stream, each as soon as it is complete; empty ones are left out.

    Raises:
        CutShortError: the stream ended within a line.
        TooLongError: a line has more than `longest` bytes; at most one chunk more was kept in memory.
    """
    rest = bytearray()
    for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for part in whole:
            rest += part
            if len(rest) > longest:
                raise TooLongError
            if rest:
                yield bytes(rest)
            rest.clear()
        rest += last
        if len(rest) > longest:
            raise TooLongError
    if rest:
        raise CutShortError
