"""Finds problems in usher.yaml that its schema cannot find.

usher refuses problems: names of checks, mutations and kinds that do not exist, and entries that no workload reaches. It
logs warnings: entries that overlap, and entries without effect.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Final

from usher import errors, paths
from usher.accelerators import boards
from usher.authorities.gpu_quota import assignment
from usher.config import load, models, sections, selection
from usher.kinds import registry
from usher.kinds.registry import KINDS
from usher.policy.checks import catalogue

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and the problem there."""

Lists = Iterator[tuple[str, Sequence[selection.Selector]]]

_QUOTAS: Final = "/quotas"

MOST_COMPARED: Final = 500
"""The most namespaces in the entries of a list whose entries are compared with each other."""


def _kinds(config: models.Config) -> Collection[str]:
    """The kinds that entries may name, with those that usher.yaml describes."""
    shipped = (kind.group_and_kind for kind in KINDS if kind.pods is not None)
    keys = [*shipped, *registry.described_keys(config.workloads)]
    return {word for group, kind in keys for word in (kind, f"{group}/{kind}")}


def with_kinds(config: models.Config, own: Sequence[catalogue.OwnChecks]) -> models.Config:
    """The configuration with the kinds that own checks of the site bring.

    Raises:
        InputError: one of them is described twice.
    """
    added = [each for checks in own for each in checks.workloads if each not in config.workloads]
    if not added:
        return config
    found = config.model_copy(update={"workloads": [*config.workloads, *added]})
    for path, reason in registry.problems(found.workloads):
        raise errors.InputError(f"{', '.join(each.source for each in own)}: workloads{paths.readable(path)}: {reason}")
    return found


def problems(config: models.Config, entries: catalogue.Catalogue) -> list[Problem]:
    """Errors in usher.yaml, grouped by its sections."""
    return [
        *_of_rules(config.enforcement, entries),
        *_of_exceptions(config.enforcement, entries),
        *_of_suppressions(config.enforcement, entries),
        *_of_parameters(config, entries),
        *_of_mutations(config.mutations, entries),
        *((f"/workloads{path}", reason) for path, reason in registry.problems(config.workloads)),
        *_of_site(config),
        *_of_roles(config.roles, _kinds(config)),
        *_of_judged_namespaces(config),
    ]


def checked(data: bytes, entries: catalogue.Catalogue) -> models.Config:
    """The configuration in the content of usher.yaml.

    Raises:
        ConfigError: a server could not start with it; names all mistakes that a server would name.
    """
    config = load.parse(data, source="usher.yaml", check=lambda good: problems(good, entries))
    found = problems(config, entries)
    if found:
        raise errors.ConfigError("usher.yaml", load.locate_problems_in(data, found))
    return config


def _of_rules(enforcement: models.Enforcement, entries: catalogue.Catalogue) -> Iterator[Problem]:
    categories = {entry.category for entry in entries.checks.values()}
    known = {"*", *entries.keys_of_checks, *categories, catalogue.OWN_CATEGORY}
    for index, rule in enumerate(enforcement.rules):
        if rule.check not in known and not catalogue.OWN_CODE.fullmatch(rule.check):
            yield f"/enforcement/rules/{index}/check", _no_check(rule.check, known)


def _of_exceptions(enforcement: models.Enforcement, entries: catalogue.Catalogue) -> Iterator[Problem]:
    known = set(entries.keys_of_checks)
    for index, exception in enumerate(enforcement.exceptions):
        for number, check in enumerate(exception.checks):
            if check not in known and not catalogue.OWN_CODE.fullmatch(check):
                yield f"/enforcement/exceptions/{index}/checks/{number}", _no_check(check, known)


def _of_suppressions(enforcement: models.Enforcement, entries: catalogue.Catalogue) -> Iterator[Problem]:
    categories = {entry.category for entry in entries.checks.values()}
    known = {"*", *entries.keys_of_checks, *categories, catalogue.OWN_CATEGORY}
    for index, rule in enumerate(enforcement.suppressions):
        for number, word in enumerate(rule.checks):
            place = f"/enforcement/suppressions/{index}/checks/{number}"
            if word not in known and not catalogue.OWN_CODE.fullmatch(word):
                yield place, _no_check(word, known)
            elif word == "isolation":
                yield place, "no author may suppress all checks of isolation; name the checks one by one"


def _of_parameters(config: models.Config, entries: catalogue.Catalogue) -> Iterator[Problem]:
    keys = entries.keys_of_checks
    for index, entry in enumerate(config.parameters):
        key = keys.get(entry.check)
        if key is None and catalogue.OWN_CODE.fullmatch(entry.check):
            continue
        if key is None:
            yield f"/parameters/{index}/check", _no_check(entry.check, set(keys))
            continue
        known = entries.checks[key].parameters
        for name, value in entry.values.items():
            place = paths.join(f"/parameters/{index}/values", name)
            if name not in known:
                has = ", ".join(sorted(known)) or "no parameters"
                yield place, f"{entries.checks[key].name} has no parameter {name!r}; it has {has}"
            elif type(value) is not type(known[name].default):
                yield place, f"expected {_type(known[name].default)}, as in the default {known[name].default!r}"


def _of_mutations(mutations: models.Mutations, entries: catalogue.Catalogue) -> Iterator[Problem]:
    known = {"*", *(word for entry in entries.mutations.values() for word in (entry.name, entry.code))}
    named = [(f"/mutations/rules/{index}/mutation", rule.mutation) for index, rule in enumerate(mutations.rules)]
    named += [
        (f"/mutations/optOuts/{index}/mutations/{number}", word)
        for index, opt_out in enumerate(mutations.opt_outs)
        for number, word in enumerate(opt_out.mutations)
    ]
    for place, word in named:
        if word not in known:
            meant = selection.nearest_word(word, known) or f"; there are {', '.join(sorted(known))}"
            yield place, f"there is no mutation {word!r}{meant}"


def _of_site(config: models.Config) -> Iterator[Problem]:
    """Entries that no workload can reach, and kinds and boards that do not exist."""
    for index, pool in enumerate(config.pools):
        board = None if pool.gpu is None else pool.gpu.board
        if board is not None and boards.by_name(board) is None:
            known = sorted(each.name for each in boards.BOARDS)
            longer = " or ".join(name for name in known if name.casefold().startswith(board.casefold()))
            meant = f"; did you mean {longer}?" if longer else selection.nearest_word(board, known)
            meant = meant or f"; there are {', '.join(known)}"
            yield f"/pools/{index}/gpu/board", f"usher knows no board {board} that MIG divides{meant}"
    excess, kinds = dict(_excess(config)), _kinds(config)
    yield from excess.items()
    for pointer, entries in _lists(config):
        for index, entry in enumerate(entries):
            for number, kind in enumerate(entry.kinds):
                if kind not in kinds:
                    yield (
                        f"{pointer}/{index}/kinds/{number}",
                        f"usher knows no workloads of kind {kind}{selection.nearest_word(kind, kinds)}",
                    )
            if pointer in excess:
                continue
            hiding = next(
                (i for i, before in enumerate(entries[:index]) if selection.entry_covers(before, entry)), None
            )
            if hiding is not None:
                yield f"{pointer}/{index}", f"never reached: entry {hiding} before it is for the same workloads"
    if _QUOTAS not in excess:
        yield from assignment.config_problems(config.quotas)


def _excess(config: models.Config) -> Iterator[Problem]:
    """Lists that are too long to compare each entry with all others: the time grows with the square of their length."""
    counts = [(pointer, [len(each.namespaces) for each in entries]) for pointer, entries in _lists(config)]
    counts.append((_QUOTAS, [len(each.namespaces) for each in config.quotas]))
    for pointer, numbers in counts:
        named = sum(max(1, number) for number in numbers)
        if named > MOST_COMPARED:
            reason = (
                f"names {named} namespaces, and usher compares at most {MOST_COMPARED}; join them by patterns (team-*)"
            )
            yield pointer, reason


def _of_roles(rules: Sequence[sections.RoleRule], known: Collection[str]) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        for number, kind in enumerate(rule.kinds):
            if kind not in known:
                yield (
                    f"/roles/{index}/kinds/{number}",
                    f"usher knows no workloads of kind {kind}{selection.nearest_word(kind, known)}",
                )


def _of_judged_namespaces(config: models.Config) -> Iterator[Problem]:
    """Entries of judgedNamespaces that change nothing, or that exemptNamespaces contradicts."""
    for number, pattern in enumerate(config.judged_namespaces):
        place = f"/judgedNamespaces/{number}"
        if not any(selection.matches_pattern(name, [pattern]) for name in models.DEFAULT_EXEMPT_NAMESPACES):
            exempt = ", ".join(models.DEFAULT_EXEMPT_NAMESPACES)
            yield place, f"usher exempts no {pattern} by default; it exempts {exempt}"
        elif selection.patterns_cover(config.exempt_namespaces, [pattern]):
            yield place, f"exemptNamespaces has {pattern} too; leave it out of one of the two"


def _given_up(config: models.Config) -> Iterator[Problem]:
    """Default exemptions that judgedNamespaces gives up, and exemptions of all namespaces."""
    for number, pattern in enumerate(config.judged_namespaces):
        for name, reason in models.WHY_EXEMPT.items():
            if selection.matches_pattern(name, [pattern]):
                yield (
                    f"/judgedNamespaces/{number}",
                    f"gives up the exemption of {name}: usher may change or deny {reason}",
                )
    if selection.matches_pattern("default", config.exempt_namespaces):
        yield (
            "/exemptNamespaces",
            "gives up all checks of workloads in the namespace default: usher neither judges nor changes them",
        )


def warnings(config: models.Config, known: Collection[str] | None = None) -> Iterator[Problem]:
    """Likely mistakes: entries for the same workloads, and namespaces in which an entry has no effect.

    Args:
        known: the namespaces of the cluster; None if they are unknown.
    """
    for pointer, entries in _lists(config):
        for index, entry in enumerate(entries):
            # A later entry for more workloads is the general case, and this entry its exception.
            for number, before in enumerate(entries[:index]):
                if selection.entries_overlap(before, entry) and not selection.entry_covers(entry, before):
                    yield f"{pointer}/{index}", f"some workloads fit entry {number} as well, which decides about them"
            yield from _without_effect(f"{pointer}/{index}", entry.namespaces, config, known)
    yield from _given_up(config)
    yield from _labels_for_everybody(config.roles)
    yield from _exceptions_for_nothing(config.enforcement)
    yield from assignment.config_warnings(config.quotas)
    for index, quota in enumerate(config.quotas):
        yield from _without_effect(f"/quotas/{index}", quota.namespaces, config, known)


def absent(config: models.Config, entries: catalogue.Catalogue) -> Iterator[Problem]:
    """Codes of own checks of the site that are not loaded: commands with and without them read the same usher.yaml."""
    named = [(f"/enforcement/rules/{index}/check", rule.check) for index, rule in enumerate(config.enforcement.rules)]
    named += [
        (f"/enforcement/exceptions/{index}/checks/{number}", check)
        for index, exception in enumerate(config.enforcement.exceptions)
        for number, check in enumerate(exception.checks)
    ]
    named += [(f"/parameters/{index}/check", each.check) for index, each in enumerate(config.parameters)]
    known = entries.keys_of_checks
    for place, word in named:
        if catalogue.OWN_CODE.fullmatch(word) and word not in known:
            yield (
                place,
                f"no check {word} is loaded, so this has no effect here; give its directory or bundle with --policies",
            )


def expired(config: models.Config, today: date) -> Iterator[Problem]:
    """Exceptions that cover nothing, because their last day is over."""
    for index, exception in enumerate(config.enforcement.exceptions):
        if exception.expires < today:
            reason = f"the exception expired on {exception.expires}, so it covers nothing; renew it or remove it"
            yield f"/enforcement/exceptions/{index}/expires", reason


def _labels_for_everybody(rules: Sequence[sections.RoleRule]) -> Iterator[Problem]:
    """Rules that let every user of the cluster give a workload a role by a label."""
    for index, rule in enumerate(rules):
        if rule.namespaces or not (rule.from_label or rule.labels):
            continue
        label = rule.from_label or ", ".join(rule.labels)
        given = "any role" if rule.role is None else f"the role {rule.role}"
        yield (
            f"/roles/{index}",
            f"every user of the cluster can take {given} by the label {label}; set namespaces whose users may",
        )


def _exceptions_for_nothing(enforcement: models.Enforcement) -> Iterator[Problem]:
    known = {each.kind for each in KINDS}
    for index, exception in enumerate(enforcement.exceptions):
        for number, kind in enumerate(exception.kinds):
            if kind not in known:
                place = f"/enforcement/exceptions/{index}/kinds/{number}"
                yield place, f"usher judges no objects of kind {kind}{selection.nearest_word(kind, known)}"


def _without_effect(
    pointer: str, patterns: Sequence[str], config: models.Config, known: Collection[str] | None
) -> Iterator[Problem]:
    for number, pattern in enumerate(patterns):
        place = f"{pointer}/namespaces/{number}"
        if selection.patterns_cover(config.exempt_namespaces, [pattern]):
            yield place, f"{pattern} is among exemptNamespaces, in which nothing is changed"
        elif known is not None and not any(selection.matches_pattern(name, [pattern]) for name in known):
            yield place, f"{pattern} does not match any of the {len(known)} known namespaces"


def _lists(config: models.Config) -> Lists:
    yield "/queues", config.queues
    yield "/routing", config.routing
    yield "/priorities/classes", config.priorities.classes
    yield "/lifecycle", config.lifecycle


def _no_check(word: str, known: set[str]) -> str:
    return f"there is no check {word!r}{selection.nearest_word(word, known) or ';'} `usher policies list` shows all"


def _type(value: object) -> str:
    return {bool: "true or false", int: "a whole number", str: "a text"}.get(type(value), "a list of texts")
