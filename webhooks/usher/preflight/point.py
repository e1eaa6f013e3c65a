"""One point of a preflight: its topic and its result."""

from enum import StrEnum

from usher.dataclass import dataclass


class State(StrEnum):
    GOOD = "good"
    ATTENTION = "attention"
    """An administrator should act before enforcement."""
    NOT_KNOWN = "not known"
    """usher could not find it out, which is neither good nor bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    topic: str
    """A word of the list of topics: `api-server`, `webhooks`, `certificate`, `server`, `other-webhooks`, ..."""
    state: State
    text: str
    remedy: str = ""


def good(topic: str, text: str) -> Point:
    return Point(topic=topic, state=State.GOOD, text=text)


def attention(topic: str, text: str, remedy: str) -> Point:
    return Point(topic=topic, state=State.ATTENTION, text=text, remedy=remedy)


def not_known(topic: str, text: str, remedy: str = "") -> Point:
    return Point(topic=topic, state=State.NOT_KNOWN, text=text, remedy=remedy)
