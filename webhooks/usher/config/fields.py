"""The types of values in usher.yaml: names, patterns, and the base of every section.

Matching takes one search for each part between two `*`, so no pattern and no text can make it slow.
"""

import difflib
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)]
Pattern = Annotated[str, StringConstraints(pattern=r"^[-a-z0-9.*]+$", max_length=253)]
"""A namespace name in which `*` stands for any characters."""
LabelKey = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)]
ResourceName = Annotated[LabelKey, StringConstraints(max_length=317)]
ResourcePrefix = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_./]*$", max_length=317)]
"""The start of resource names; never empty, because that would match every resource."""
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=256)]
UserPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.:@/*+=,]+$", max_length=512)]
"""Name of a user or group in which `*` stands for any characters."""
Duration = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}[smh]$")]
"""A number of seconds, minutes or hours, as in `90s`."""
Place = Literal["admission", "check", "audit"]
"""Where a decision is made: in the webhooks, `usher check` or `usher audit`."""
Role = Literal["training", "inference", "batch", "interactive", "service", "system", "unknown"]
"""The purpose of a workload, as in `usher workload show`."""

ANY_NAMESPACE: Final = "Namespaces, in which * stands for any characters; by default all."


def seconds(duration: Duration) -> float:
    """The number of seconds of a duration."""
    return float(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, sorted."""
    return sorted(name for name, number in Counter(names).items() if number > 1)


class Section(BaseModel):
    """A part of usher.yaml: unknown keys are refused, and nothing changes after loading."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


class Selector(Section):
    """The workloads of an entry. The first entry of a list that matches a workload decides."""

    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    roles: list[Role] = Field(default=[], description="Roles of workloads; by default all.")
    kinds: list[str] = Field(default=[], description="Kinds of objects: PyTorchJob. By default all.")
    min_accelerators: int = Field(
        default=0, ge=0, le=2**31, description="Only workloads whose pods together ask for at least this number."
    )
    max_accelerators: int | None = Field(
        default=None, ge=0, le=2**31, description="Only workloads whose pods together ask for at most this number."
    )

    @model_validator(mode="after")
    def _check_size_is_possible(self) -> "Selector":
        if self.max_accelerators is not None and self.max_accelerators < self.min_accelerators:
            raise ValueError(
                f"no workload asks for {self.min_accelerators} at least and {self.max_accelerators} at most; "
                "swap minAccelerators and maxAccelerators"
            )
        return self


_LONGEST: Final = 64
"""Characters of a word that are compared; known words are shorter, and the time grows with the lengths."""

_LOOK_ALIKE: Final = str.maketrans("oil", "011")

_EQUALLY_CLOSE: Final = 50
"""This many close words are compared again, letter by letter: USH3O2 has as many letters of USH432 as of USH302."""


def nearest_word(word: str, known: Collection[str]) -> str:
    """`; did you mean KNOWN?`, or an empty text where every known word differs too much."""
    by_case = {each.casefold(): each for each in known}
    given = word[:_LONGEST].casefold()
    close = difflib.get_close_matches(given, by_case, n=_EQUALLY_CLOSE)
    return f"; did you mean {by_case[max(close, key=lambda other: _likeness(given, other))]}?" if close else ""


def _likeness(given: str, other: str) -> tuple[float, int]:
    letters = zip(given.translate(_LOOK_ALIKE), other.translate(_LOOK_ALIKE), strict=False)
    same_places = sum(one == another for one, another in letters)
    return difflib.SequenceMatcher(None, other, given).ratio(), same_places


@lru_cache(maxsize=4096)
def _parts_of_glob(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.split("*"))


def glob_fits(text: str, pattern: str) -> bool:
    """Whether a pattern matches a whole text; every character but `*` stands for itself."""
    first, *rest = _parts_of_glob(pattern)
    if not rest:
        return text == first
    *between, last = rest
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    start, end = len(first), len(text) - len(last)
    for part in between:
        found = text.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return True


def image_fits(image: str, pattern: str) -> bool:
    """Whether a pattern matches an image, or the end of its path after a slash.

    A pattern without a colon matches every tag and digest: `vllm/vllm-*` matches
    `registry.example.com/mirror/vllm/vllm-openai:v0.10.0`.
    """
    name = image if ":" in pattern or "@" in pattern else without_tag(image)
    return glob_fits(name, pattern) or glob_fits(name, f"*/{pattern}")


def without_tag(image: str) -> str:
    """The name of an image without its tag and digest."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return head + slash + last.partition(":")[0]


def command_fits(words: tuple[str, ...], pattern: str) -> bool:
    """Whether the words of a pattern match the first words of a command, one by one, whatever their case.

    A word without a slash matches the last part of a path: `torchrun` matches `/usr/local/bin/torchrun`.
    """
    wanted = _words_of_glob(pattern)
    return len(wanted) <= len(words) and all(map(_word_fits, words, wanted))


@lru_cache(maxsize=4096)
def _words_of_glob(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.lower().split())


@lru_cache(maxsize=4096)
def _word_fits(word: str, pattern: str) -> bool:
    word = word.lower()
    return glob_fits(word if "/" in pattern else word.rpartition("/")[2], pattern)
