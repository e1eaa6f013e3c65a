"""What is asked of an API server, and what comes back. Tests have an API server of their own behind it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from usher import paths

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the API server answered; `value` is its JSON object, a Status where the request failed."""

    status: int
    value: paths.Object

    @property
    def message(self) -> str:
        """Why it failed, in the server's words."""
        message = self.value.get("message")
        return message if isinstance(message, str) and message else f"HTTP status {self.status}"


class Stream(Protocol):
    """An answer whose body goes on for as long as the server has something to say."""

    @property
    def refusal(self) -> Answer | None:
        """The whole answer, where the server refused; None while it sends."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes in, until the server ends it.

        Raises:
            ClusterError: the connection is lost.
            StalledError: nothing came for longer than it may.
        """
        ...


class Lists(Protocol):
    """Answers whole."""

    @property
    def name(self) -> str:
        """How people call the cluster."""
        ...

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        """The answer to a GET request, whatever its status. Raises ClusterError where there is none."""
        ...


class Api(Lists, Protocol):
    """Answers whole, and in streams."""

    def stream(
        self, path: str, *, query: Mapping[str, str], silence: float, accept: str = JSON
    ) -> AbstractContextManager[Stream]:
        """The answer to a GET request as it comes; `silence` is how many seconds nothing may come.

        Raises ClusterError where there is no answer.
        """
        ...


def root(group: str, version: str) -> str:
    """Where the API server serves a version of a group."""
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def loads(data: bytes) -> paths.Json:
    """JSON; what orjson is too strict for (half surrogates, large integers), the slower standard library takes.

    Raises:
        ValueError: it is none, or nested too deeply for either.
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
"""Bytes of a line. An object of etcd has 1.5 MiB at most, and its JSON a few times as much."""


class CutShortError(ValueError):
    """The stream ended within a line."""


class TooLongError(ValueError):
    """A line is longer than any object can be."""


def lines(chunks: Iterable[bytes], *, longest: int = LONGEST) -> Iterator[bytes]:
    """The lines of a stream, each as soon as it is whole; empty ones are left out.

    Raises:
        CutShortError: after the last whole line there was more.
        TooLongError: a line has more than `longest` bytes; no more than one chunk above that was kept.
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
