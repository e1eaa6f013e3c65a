"""What usher.yaml says of checks and mutations, held against those that there are."""

import difflib
from collections.abc import Iterator

from usher import paths
from usher.config import models
from usher.policy import catalogue, site_problems


def problems(config: models.Config, entries: catalogue.Catalogue) -> list[site_problems.Problem]:
    """Everything that is wrong, in the order of the file."""
    return [
        *_of_rules(config.enforcement, entries),
        *_of_exceptions(config.enforcement, entries),
        *_of_parameters(config, entries),
        *_of_mutations(config.mutations, entries),
        *site_problems.problems(config),
    ]


def _of_rules(enforcement: models.Enforcement, entries: catalogue.Catalogue) -> Iterator[site_problems.Problem]:
    categories = {entry.category for entry in entries.checks.values()}
    known = {"*", *entries.keys_of_checks, *categories}
    for index, rule in enumerate(enforcement.rules):
        if rule.check not in known:
            yield f"/enforcement/rules/{index}/check", _no_check(rule.check, known)


def _of_exceptions(enforcement: models.Enforcement, entries: catalogue.Catalogue) -> Iterator[site_problems.Problem]:
    known = set(entries.keys_of_checks)
    for index, exception in enumerate(enforcement.exceptions):
        for number, check in enumerate(exception.checks):
            if check not in known:
                yield f"/enforcement/exceptions/{index}/checks/{number}", _no_check(check, known)


def _of_parameters(config: models.Config, entries: catalogue.Catalogue) -> Iterator[site_problems.Problem]:
    keys = entries.keys_of_checks
    for index, entry in enumerate(config.parameters):
        key = keys.get(entry.check)
        if key is None:
            yield f"/parameters/{index}/check", _no_check(entry.check, set(keys))
            continue
        known = entries.checks[key].parameters
        for name, value in entry.values.items():
            place = paths.join(f"/parameters/{index}/values", name)
            if name not in known:
                has = ", ".join(sorted(known)) or "none"
                yield place, f"{entries.checks[key].name} has no such parameter; it has {has}"
            elif type(value) is not type(known[name].default):
                yield place, f"expected {_type(known[name].default)}, as in the default {known[name].default!r}"


def _of_mutations(mutations: models.Mutations, entries: catalogue.Catalogue) -> Iterator[site_problems.Problem]:
    known = {"*", *(word for entry in entries.mutations.values() for word in (entry.name, entry.code))}
    words = [(f"/mutations/rules/{index}/mutation", rule.mutation) for index, rule in enumerate(mutations.rules)]
    words += [
        (f"/mutations/optOuts/{index}/mutations/{number}", word)
        for index, opt_out in enumerate(mutations.opt_outs)
        for number, word in enumerate(opt_out.mutations)
    ]
    for place, word in words:
        if word not in known:
            close = difflib.get_close_matches(word, known, n=1)
            meant = f", did you mean {close[0]}?" if close else f"; there are {', '.join(sorted(known))}"
            yield place, f"there is no mutation {word!r}{meant}"


def _no_check(word: str, known: set[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    meant = f", did you mean {close[0]}?" if close else ";"
    return f"there is no check {word!r}{meant} `usher policies list` shows all"


def _type(value: object) -> str:
    return {bool: "true or false", int: "a whole number", str: "a text"}.get(type(value), "a list of texts")
