"""The changes that a run suggests: the mutations of each object, and the remedies for its findings."""

from collections.abc import Collection, Iterator
from enum import StrEnum

import orjson

from usher import model, paths
from usher.dataclass import dataclass
from usher.fixing import remedies, steps
from usher.scan import findings


class Source(StrEnum):
    MUTATIONS = "mutations"
    REMEDIES = "remedies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The changes that the user wants."""

    sources: Collection[Source] = tuple(Source)
    keys: Collection[str] = ()
    """Keys of checks and mutations; empty for all."""
    names: Collection[str] = ()
    """The resource names of accelerators that nodes may offer."""

    def takes(self, source: Source, key: str) -> bool:
        return source in self.sources and (not self.keys or key in self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A change of one object with its reason. usher writes it completely or not at all."""

    key: str
    """`category/name` of the mutation or check."""
    identity: tuple[str, ...]
    """Distinguishes it from the other wishes for the object, also in the next run."""
    steps: tuple[steps.Step, ...]
    intent: model.Intent | None = None
    change: findings.Change | None = None
    """The change, with the names that messages give to the places of the intent."""
    judgement: model.Judgement | None = None

    @property
    def source(self) -> Source:
        return Source.MUTATIONS if self.intent is not None else Source.REMEDIES


def of_result(result: findings.Result, choice: Choice) -> Iterator[Wish]:
    """The wishes for one object: first the mutations in their order, then the remedies."""
    if result.change is None:
        return
    yield from _mutations(result.change, choice)
    suggested = [
        wish
        for each in result.findings
        if not each.added and (wish := _remedy(each.judgement, result.change, choice)) is not None
    ]
    # Later list items go first, so that the places of the others stay right.
    yield from sorted(suggested, key=_from_the_end)


def _mutations(change: findings.Change, choice: Choice) -> Iterator[Wish]:
    merged = change.merged
    start = 0
    for intent, end in zip(merged.applied, merged.ends, strict=True):
        operations = merged.operations[start:end]
        start = end
        # The webhook does not mention silent mutations either: they change nearly every pod.
        wanted = intent.mutation not in change.silent or intent.mutation in choice.keys
        if wanted and choice.takes(Source.MUTATIONS, intent.mutation):
            yield Wish(
                key=intent.mutation,
                identity=(intent.mutation, intent.at, intent.field, orjson.dumps(intent.value).decode()),
                steps=tuple(
                    steps.spelt_like_limits(step, change.before)
                    for operation in operations
                    for step in steps.of_operation(operation)
                ),
                intent=intent,
                change=change,
            )


def _remedy(judgement: model.Judgement, change: findings.Change, choice: Choice) -> Wish | None:
    finding = judgement.finding
    if not choice.takes(Source.REMEDIES, finding.check):
        return None
    case = remedies.Case(finding=finding, value=change.before, names=choice.names)
    found = remedies.steps(case)
    if not found:
        return None
    return Wish(key=finding.check, identity=(finding.check, finding.path), steps=found, judgement=judgement)


def _from_the_end(wish: Wish) -> list[tuple[int, str]]:
    keys = paths.split(wish.identity[1])
    return [(-int(key), "") if key.isdecimal() and len(key) < 10 else (0, key) for key in keys]
