"""From an engine's result to a decision. Pure."""

from collections.abc import Callable, Iterable, Iterator

import orjson
from pydantic import ConfigDict, TypeAdapter, ValidationError

from usher import errors, model, paths
from usher.config import models
from usher.policy import enforcement
from usher.policy.checks import catalogue

_ORDER = {model.Outcome.DENY: 0, model.Outcome.WARN: 1, model.Outcome.AUDIT: 2}


def findings(result: paths.Object) -> list[model.Finding]:
    """The findings of a result, in a stable order.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return sorted(
        (
            model.Finding(
                check=_text(entry, "check"),
                path=_text(finding, "path"),
                message=_text(finding, "message"),
                remedy=_optional_text(finding, "remedy"),
                assumption=_optional_text(finding, "assumption"),
            )
            for entry, finding in _entries(result, "findings", "finding")
        ),
        key=lambda finding: (finding.check, finding.path, finding.message, finding.remedy, finding.assumption),
    )


def unknowns(result: paths.Object) -> list[model.Unknown]:
    """The facts that checks could not evaluate, in a stable order.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return sorted(
        (
            model.Unknown(check=_text(entry, "check"), path=_text(unknown, "path"), reason=_text(unknown, "reason"))
            for entry, unknown in _entries(result, "unknown", "unknown")
        ),
        key=lambda unknown: (unknown.check, unknown.path, unknown.reason),
    )


def intents(result: paths.Object) -> list[model.Intent]:
    """The intents of a result, in a stable order: by mutation, place and field.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return sorted(
        (
            model.Intent(
                mutation=_text(entry, "mutation"),
                at=_text(intent, "at"),
                field=_text(intent, "field"),
                value=intent.get("value"),
                reason=_text(intent, "reason"),
                needs=_needs(intent) if "needs" in intent else (),
            )
            for entry, intent in _entries(result, "intents", "intent")
        ),
        key=lambda intent: (
            intent.mutation,
            intent.at,
            intent.field,
            _canonical(intent.value),
            intent.reason,
        ),
    )


def notes(result: paths.Object, field: str) -> tuple[model.Note, ...]:
    """The notes of mutations in a list of a result, `warnings` or `skips`, in a stable order.

    Raises:
        EngineError: an entry has not the shape that the entry point promises.
    """
    return tuple(
        sorted(
            (
                model.Note(mutation=_text(entry, "mutation"), at=_text(note, "at"), reason=_text(note, "reason"))
                for entry, note in _entries(result, field, field.removesuffix("s"))
            ),
            key=lambda note: (note.mutation, note.at, note.reason),
        )
    )


def judge(  # noqa: PLR0913 - what a judgement depends on, all named at the one call
    found: Iterable[model.Finding],
    *,
    where: enforcement.Circumstances,
    entries: catalogue.Catalogue,
    rules: models.Enforcement,
    before: Iterable[model.Finding] = (),
    leniency: Callable[[catalogue.Entry], str] = lambda _check: "",
) -> tuple[model.Judgement, ...]:
    """The judgements about the findings, worst first.

    Args:
        found: the findings of the object.
        where: where it is, and who asks.
        entries: the catalogue that knows the checks.
        rules: the enforcement section of usher.yaml.
        before: on UPDATE, the findings of the old object. An old finding only warns, or finalizers could never be
            removed (docs/domain/principles.md#updates-and-deletion).
        leniency: why a check at most warns about this object; empty if the check may deny it.

    Raises:
        EngineError: a finding comes from a check that the catalogue does not know.
    """
    # Not by path: inserting a container moves all that follow it.
    known = {(finding.check, finding.message) for finding in before}
    judgements = []
    for finding in found:
        check = entries.checks.get(finding.check)
        if check is None:
            raise errors.EngineError(f"the policies found something by {finding.check}, which is in no catalogue")
        outcome, because = enforcement.outcome(finding, check, where=where, enforcement=rules)
        if outcome is None:
            continue
        milder = "it was so before" if (finding.check, finding.message) in known else leniency(check)
        if outcome is model.Outcome.DENY and milder:
            outcome, because = model.Outcome.WARN, milder
        elif because == enforcement.OBSERVED and milder:
            because = milder
        judgements.append(
            model.Judgement(
                finding=finding,
                outcome=outcome,
                code=check.code,
                name=check.name,
                because=because,
                exception=enforcement.exception(check, where=where, enforcement=rules),
            )
        )
    return tuple(sorted(judgements, key=lambda each: (_ORDER[each.outcome], entries.checks[each.finding.check].number)))


_NEEDS = TypeAdapter(tuple[model.Need, ...], config=ConfigDict(defer_build=True))


def _needs(intent: paths.Object) -> tuple[model.Need, ...]:
    try:
        return _NEEDS.validate_python(intent["needs"])
    except ValidationError:
        raise errors.EngineError("the policy engine's result has an intent with malformed needs") from None


def _canonical(value: paths.Json) -> bytes:
    # Engines do not agree on the order of an object's fields.
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _entries(result: paths.Object, field: str, inner: str) -> Iterator[tuple[paths.Object, paths.Object]]:
    entries = result.get(field)
    if not isinstance(entries, list):
        raise errors.EngineError(f"the policy engine's result has no list of {field}")
    for entry in entries:
        value = entry.get(inner) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(value, dict):
            raise errors.EngineError(
                f"the policy engine's result has an entry in {field} that is not an object with {inner}"
            )
        yield entry, value


def _text(value: paths.Object, field: str) -> str:
    text = value.get(field)
    if not isinstance(text, str):
        raise errors.EngineError(f"the policy engine's result has an entry without {field}")
    return text


def _optional_text(value: paths.Object, field: str) -> str:
    return _text(value, field) if field in value else ""
