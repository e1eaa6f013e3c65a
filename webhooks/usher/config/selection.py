"""The types of values in usher.yaml, and which of its entries apply to a workload, or overlap.

In a namespace pattern `*` stands for any characters; every other character stands for itself. Matching takes one search
for each part between two `*`, so no pattern and no text can make it slow.
"""

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Final, Literal, Self, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from usher import model

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

    @classmethod
    def defaults(cls) -> Self:
        """The section with all its defaults. It needs no validators, whose building takes as long as many imports."""
        return cls.model_construct()


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


def matches_pattern(namespace: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern fits; the models accept `*` as the only wildcard."""
    return any(glob_fits(namespace, pattern) for pattern in patterns)


Entry = TypeVar("Entry", bound=Selector)


class Subject(Struct, frozen=True, kw_only=True):
    """The fields of a workload that a selector compares."""

    namespace: str
    group: str
    kind: str
    role: str
    accelerators: int | None
    """The accelerators of all pods together, under any name; None without a bound."""


def subject_of(workload: model.Workload) -> Subject:
    return Subject(
        namespace=workload.namespace,
        group=workload.group,
        kind=workload.kind,
        role=workload.role.value,
        accelerators=largest_size(workload),
    )


def first_match(entries: Iterable[Entry], subject: Subject) -> Entry | None:
    """The first entry that matches; None without a match."""
    return next((entry for entry in entries if entry_fits(entry, subject)), None)


def entry_fits(entry: Selector, subject: Subject) -> bool:
    """Whether an entry matches a workload. A workload without bound is larger than any number."""
    most = entry.max_accelerators
    return (
        (not entry.kinds or subject.kind in entry.kinds or f"{subject.group}/{subject.kind}" in entry.kinds)
        and (not entry.roles or subject.role in entry.roles)
        and (subject.accelerators is None or subject.accelerators >= entry.min_accelerators)
        and (most is None or (subject.accelerators is not None and subject.accelerators <= most))
        and matches_pattern(subject.namespace, entry.namespaces)
    )


def largest_size(workload: model.Workload) -> int | None:
    """Accelerators of all pods together at their maximum, by any name and route; None without a bound."""
    maxima = [total.maximum for total in workload.totals]
    return sum(most.value for most in maxima if most is not None) if None not in maxima else None


_ANYTHING = "\0"
"""A placeholder for any text in place of a `*`; in a pattern, only another `*` matches it."""


def entry_covers(first: Selector, second: Selector) -> bool:
    """Whether the first matches every workload that the second matches."""
    return (
        patterns_cover(first.namespaces, second.namespaces)
        and _covers(first.kinds, second.kinds)
        and _covers(first.roles, second.roles)
        and first.min_accelerators <= second.min_accelerators
        and (
            first.max_accelerators is None
            or (second.max_accelerators is not None and second.max_accelerators <= first.max_accelerators)
        )
    )


def entries_overlap(first: Selector, second: Selector) -> bool:
    """Whether both can match the same workload."""
    return (
        patterns_meet(first.namespaces, second.namespaces)
        and _share(first.kinds, second.kinds)
        and _share(first.roles, second.roles)
        and _reaches(first.max_accelerators, second.min_accelerators)
        and _reaches(second.max_accelerators, first.min_accelerators)
    )


def patterns_meet(first: Iterable[str], second: Sequence[str]) -> bool:
    """Whether a name can match one of the first and one of the second."""
    return any(_ends_agree(one, other) and _meet(one, other) for one in first for other in second)


def _ends_agree(one: str, other: str) -> bool:
    """Whether the starts of both patterns agree up to the first `*`, and their ends. It spares most comparisons."""
    (start, end), (other_start, other_end) = _ends(one), _ends(other)
    return (start.startswith(other_start) or other_start.startswith(start)) and (
        end.endswith(other_end) or other_end.endswith(end)
    )


@lru_cache(maxsize=4096)
def _ends(pattern: str) -> tuple[str, str]:
    return pattern.partition("*")[0], pattern.rpartition("*")[2]


def patterns_cover(first: Sequence[str], second: Iterable[str]) -> bool:
    """Whether every name of the second matches one of the first; coverage by several patterns together is not found."""
    return all(any(glob_fits(each.replace("*", _ANYTHING), pattern) for pattern in first) for each in second)


def _covers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the first list covers the second; an empty list means everything."""
    return not first or (bool(second) and set(second) <= set(first))


def _share(first: Sequence[str], second: Sequence[str]) -> bool:
    return not first or not second or not set(first).isdisjoint(second)


def _reaches(most: int | None, least: int) -> bool:
    return most is None or most >= least


@lru_cache(maxsize=1024)
def _meet(first: str, second: str) -> bool:
    """Whether a name can match both patterns; compares each place of one with each place of the other, once."""
    reached = {(0, 0)}
    waiting = [(0, 0)]
    while waiting:
        one, other = waiting.pop()
        if one == len(first) and other == len(second):
            return True
        for step in _steps(first, second, one, other):
            if step not in reached:
                reached.add(step)
                waiting.append(step)
    return False


def _steps(first: str, second: str, one: int, other: int) -> list[tuple[int, int]]:
    left, right = first[one : one + 1], second[other : other + 1]
    steps = []
    if left == "*":
        # It ends here, or matches one more character of the other pattern.
        steps += [(one + 1, other), *([(one, other + 1)] if right else [])]
    if right == "*":
        steps += [(one, other + 1), *([(one + 1, other)] if left else [])]
    if left and left == right:
        steps.append((one + 1, other + 1))
    return steps
