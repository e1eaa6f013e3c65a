"""An API server that answers what a test has written down, request by request."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from usher import errors, paths
from usher.cluster.api import JSON, Answer


@dataclass
class ScriptedStream:
    """Sends its chunks, and then ends as the test wants: properly, or with an error."""

    sent: list[bytes]
    refusal: Answer | None = None
    end: errors.ClusterError | None = None
    meanwhile: Callable[[], None] = lambda: None

    def chunks(self) -> Iterator[bytes]:
        self.meanwhile()
        yield from self.sent
        if self.end is not None:
            raise self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    path: str
    query: Mapping[str, str]
    accept: str
    silence: float = 0.0


@dataclass
class ScriptedApi:
    """Answers lists and watches in the order of the script."""

    script: list[Answer | ScriptedStream | errors.ClusterError]
    name: str = "the test cluster"
    asked: list[Asked] = field(default_factory=list)

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        self.asked.append(Asked(path=path, query=query or {}, accept=accept))
        answer = self._next()
        assert isinstance(answer, Answer), f"a list was not to be expected: {self.asked[-1]}"
        return answer

    @contextlib.contextmanager
    def stream(
        self, path: str, *, query: Mapping[str, str], silence: float, accept: str = JSON
    ) -> Iterator[ScriptedStream]:
        self.asked.append(Asked(path=path, query=query, accept=accept, silence=silence))
        answer = self._next()
        assert isinstance(answer, ScriptedStream), f"a watch was not to be expected: {self.asked[-1]}"
        yield answer

    def hang_up(self) -> None:
        """Nothing is open."""

    def _next(self) -> Answer | ScriptedStream:
        answer = self.script.pop(0)
        if isinstance(answer, errors.ClusterError):
            raise answer
        return answer


def listed(*items: paths.Object, version: str = "10", token: str = "") -> Answer:
    metadata: dict[str, Any] = {"resourceVersion": version, **({"continue": token} if token else {})}
    return Answer(status=200, value={"kind": "List", "metadata": metadata, "items": list(items)})


def refused(status: int, message: str = "no") -> Answer:
    return Answer(status=status, value={"kind": "Status", "message": message, "code": status})


def watched(*events: bytes, end: errors.ClusterError | None = None) -> ScriptedStream:
    return ScriptedStream(list(events), end=end)


def event(kind: str, value: paths.Object, *, version: str) -> bytes:
    metadata = value.get("metadata")
    assert isinstance(metadata, dict)
    stored = {**value, "metadata": {**metadata, "resourceVersion": version}}
    return json.dumps({"type": kind, "object": stored}).encode() + b"\n"


def bookmark(version: str) -> bytes:
    return event("BOOKMARK", {"kind": "PriorityClass", "metadata": {}}, version=version)


def error_event(code: int, message: str = "gone") -> bytes:
    value = {"kind": "Status", "code": code, "message": message}
    return json.dumps({"type": "ERROR", "object": value}).encode() + b"\n"
