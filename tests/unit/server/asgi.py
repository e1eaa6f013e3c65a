"""Requests to an ASGI application, without a socket."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.types import ASGIApp, Message, Scope

from usher.server.ports import ARRIVED

JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def response(self) -> Any:
        """The response of a review."""
        assert (b"content-type", b"application/json") in self.headers
        return orjson.loads(self.body)["response"]


def chunks(*bodies: bytes, end: bool = True) -> list[Message]:
    """A body in parts; without `end` there is more to come."""
    return [
        {"type": "http.request", "body": body, "more_body": number < len(bodies) or not end}
        for number, body in enumerate(bodies, start=1)
    ]


async def call(
    app: ASGIApp,
    path: str,
    messages: Iterable[Message],
    *,
    method: str = "POST",
    headers: Sequence[tuple[bytes, bytes]] = (JSON,),
    waited: float = 0.0,
) -> Answer:
    """The answer to one request that arrived some seconds ago. After the last message, the client is gone."""
    waiting = iter(messages)
    sent: list[Message] = []

    async def receive() -> Message:
        return next(waiting, {"type": "http.disconnect"})

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        ARRIVED: time.monotonic() - waited,
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"timeout=3s",
        "root_path": "",
        "scheme": "https",
        "headers": list(headers),
    }
    await app(scope, receive, send)
    start, *bodies = sent
    return Answer(
        status=start["status"],
        headers=list(start["headers"]),
        body=b"".join(message.get("body", b"") for message in bodies),
    )
