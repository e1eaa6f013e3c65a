"""`usher policies` and `usher explain`: the checks and mutations, and what each of them says of one file."""

import itertools
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from usher import errors
from usher.audit.standing.situation import BY_CODE, ENTRIES, CatalogueEntry
from usher.check import sources
from usher.check.batches import Batch
from usher.cli import given_policies, inputs
from usher.config import models, selection
from usher.extensions.own_checks import folders
from usher.kinds.reading import values
from usher.policy import explaining
from usher.policy.checks import catalogue, metadata
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Explanation
from usher.policy.rule_choice import RuleChoice, why_on_or_off

_WIDTH: Final = 100
"""Columns at most."""


def paragraphs(text: str) -> Iterator[str]:
    """The lines of a text whose paragraphs are divided by empty lines."""
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 0)).columns)
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), width, break_long_words=False, break_on_hyphens=False)


_FIELDS: Final = ("code", "name", "title", "severity", "category", "why", "remedy", "source")


def find_audit_entry(code_or_name: str) -> CatalogueEntry | None:
    """The entry with this code, in any case, or name."""
    named = (entry for entry in ENTRIES if entry.name == code_or_name)
    return BY_CODE.get(code_or_name.upper()) or next(named, None)


def audit_words() -> Iterator[str]:
    """The codes and names of all entries."""
    for entry in ENTRIES:
        yield from (entry.code, entry.name)


def write_audit_page(entry: CatalogueEntry, *, format_name: str) -> None:
    """Writes its page to standard output, or its fields as JSON."""
    if format_name == "json":
        click.echo(json.dumps({name: getattr(entry, name) for name in _FIELDS}, indent=2, sort_keys=True))
    else:
        click.echo("\n".join(_audit_page(entry)))


def _audit_page(entry: CatalogueEntry) -> Iterator[str]:
    yield f"{entry.code} {entry.name}"
    yield entry.title
    yield ""
    yield f"  category  {entry.category}"
    yield f"  severity  {entry.severity}"
    yield "  reported  by usher audit alone, about the cluster as a whole; usher.yaml cannot deny it"
    for text in (entry.why, f"Remedy: {entry.remedy}"):
        yield ""
        yield from paragraphs(text)
    yield ""
    yield f"Read more: {entry.source}"


@click.group()
def policies() -> None:
    """List and explain the checks and mutations; write your own checks; build and verify policies of Gatekeeper."""


@inputs.command("policies list", group=policies)
def list_command(
    *,
    config: Path | None,
    category: str | None,
    severity: str | None,
    outcome: str | None,
    search: str | None,
    choice: RuleChoice,
    policies: given_policies.PolicyOptions,
    format_name: str,
) -> None:
    from usher.check.formats import rule_pages

    own = policies.own_alone()
    loaded = inputs.load_config(inputs.find_config(config), own=own)
    joined = catalogue.join_catalogues(catalogue.load().catalogue, own)
    known = list(joined)
    applied = choice.applied(loaded, joined, judging=False)
    whys = {each.key: why_on_or_off(each, loaded, choice, joined) for each in joined.checks.values()}
    categories = {entry.category for entry in known}
    if category is not None and category not in categories:
        raise errors.InputError(
            f"no category {category}{selection.nearest_word(category, categories)}; "
            f"there are {', '.join(sorted(categories))}"
        )
    entries = [
        (entry, its_outcome)
        for entry in known
        if category in (None, entry.category)
        and severity in (None, entry.severity)
        and (search is None or search.casefold() in f"{entry.code} {entry.name} {entry.title}".casefold())
        and (its_outcome := rule_pages.outcome(entry, applied))
        and (outcome is None or any(part.split()[0].rstrip(",") == outcome for part in its_outcome.split("; ")))
    ]
    if format_name == "json":
        described = [
            {**rule_pages.described(entry, applied), "because": whys.get(entry.key, "")} for entry, _ in entries
        ]
        click.echo(json.dumps(described, indent=2, sort_keys=True))
    elif entries:
        _write_table(entries, whys)
    else:
        click.echo("usher: no check or mutation fits these options", err=True)


def _write_table(entries: list[tuple[catalogue.Entry, str]], whys: Mapping[str, str]) -> None:
    """Writes the entries by category; title, outcomes of other namespaces and reasons wrap in the last column."""
    from rich.text import Text

    from usher.check.formats.lines import Lines

    lines = Lines(sys.stdout, color=False)
    width = max(len(entry.name) for entry, _ in entries)
    for category, group in itertools.groupby(entries, key=lambda found: found[0].category):
        lines.write(f"{category}:")
        for entry, outcome in group:
            usual, *elsewhere = outcome.split("; ")
            word, _, note = usual.partition(", ")
            why = f" ({whys[entry.key]})" if entry.key in whys else ""
            text = "; ".join([entry.title, *([note] if note else []), *elsewhere]) + why
            start = f"  {entry.code:<7}  {entry.name:<{width}}  {entry.severity or '-':<8}  {word:<5}  "
            lines.wrapped(text, first=Text(start), rest=" " * len(start))
        lines.write()
    words = [outcome.split("; ") for entry, outcome in entries if entry.key in whys]
    on = sum(any(not each.startswith("off") for each in outcomes) for outcomes in words)
    lines.write(f"{on} of {len(words)} checks are on; each says in brackets what decides.")


@inputs.command("policies show", group=policies)
def show(
    *,
    code_or_name: str,
    config: Path | None,
    policies: given_policies.PolicyOptions,
    format_name: str,
) -> None:
    own = policies.own_alone()
    write_rule(code_or_name, config=config, format_name=format_name, own=own)


@inputs.command("policies new", group=policies)
def new(*, names: tuple[str, ...], directory: Path, code: str) -> None:
    if len(names) > 2:
        raise click.UsageError("give NAME for a check of your own, or CATEGORY NAME for a check of gpu-usher")
    if len(names) == 1:
        given_policies.begin_own_check(names[0], directory=directory, code=code)
    elif code:
        raise click.UsageError(
            "--code is for checks of your own; a check of gpu-usher gets the next code of its category"
        )
    else:
        _begin(*names, directory=directory)


def _begin(category: str, name: str, *, directory: Path) -> None:
    if not (directory / "usher" / "checks").is_dir():
        raise errors.InputError(f"{directory}: there are no policies here; run this in a checkout of gpu-usher")
    code = folders.next_code(category, metadata.read_entries(directory)["checks"])
    folder = directory / "usher" / "checks" / category / name
    folders.write_scaffold(folder, folders.scaffold_files(category, name, code))
    click.echo(f"{code}: {folder}\nNext: write the rule and its examples, then scripts/rego {category}/{name}")


@inputs.command("policies next-code", group=policies)
def next_code(*, category: str) -> None:
    click.echo(folders.next_code(category, catalogue.load().catalogue.checks.values()))


def write_rule(code_or_name: str, *, config: Path | None, format_name: str, own: Sequence[OwnChecks] = ()) -> None:
    """Writes the page of one check or mutation, or of a check of the site.

    Raises:
        InputError: no check or mutation has that code or name.
    """
    from usher.check.formats import rule_pages

    loaded = inputs.load_config(inputs.find_config(config), own=own)
    known = catalogue.join_catalogues(catalogue.load().catalogue, own)
    entry = known.find(code_or_name)
    if entry is None:
        rules = [word for each in known for word in (each.name, each.code)]
        meant = selection.nearest_word(code_or_name, [*rules, *audit_words()]) or ";"
        raise errors.InputError(
            f"no check or mutation has the code or name {code_or_name}{meant} `usher policies list` lists them all"
        )
    if format_name == "json":
        click.echo(json.dumps(rule_pages.described(entry, loaded), indent=2, sort_keys=True))
    else:
        click.echo("\n".join(_page(entry, loaded)))


def _page(entry: catalogue.Entry, config: models.Config) -> Iterator[str]:
    from usher.check.formats import rule_pages

    yield f"{entry.code} {entry.name}"
    yield entry.title
    yield ""
    yield f"  category  {entry.category}"
    if entry.severity is not None:
        yield f"  severity  {entry.severity}"
    yield f"  outcome   {rule_pages.outcome(entry, config)}"
    if entry.strict_only:
        yield ""
        yield from paragraphs(f"Only the preset strict has this check. {entry.strict_only}")
    remedy = f"Remedy: {entry.remediation}" if entry.remediation else ""
    for text in (entry.why, entry.description, remedy):
        if text:
            yield ""
            yield from paragraphs(text)
    if entry.parameters:
        yield ""
        yield "Parameters, which usher.yaml sets under `parameters`:"
        for name, parameter in sorted(entry.parameters.items()):
            yield f"  {name}  {json.dumps(parameter.default)}"
            yield from (f"    {line}" for line in paragraphs(parameter.description))
    if entry.links:
        yield ""
        yield "Read more:"
        yield from (f"  {link.ref}  {link.description}".rstrip() for link in entry.links)


@inputs.command("policies compile", group=policies)
def compile() -> None:  # noqa: A001 - the name of the command
    from usher.policy import assembly

    click.echo(assembly.compile_ahead())


policies.add_command(given_policies.build)
policies.add_command(given_policies.test)
policies.add_command(given_policies.docs)
policies.add_command(given_policies.verify)


@inputs.command("explain")
def explain(
    *,
    code_name_or_file: str,
    everything: bool,
    config: Path | None,
    facts: tuple[str, ...],
    kubeconfig: Path | None,
    context_name: str | None,
    namespace: str,
    policies: given_policies.PolicyOptions,
    format_name: str,
) -> None:
    own = policies.own_alone()
    if catalogue.join_catalogues(catalogue.load().catalogue, own).find(code_name_or_file) is not None:
        write_rule(code_name_or_file, config=config, format_name=format_name, own=own)
        return
    if (finding := find_audit_entry(code_name_or_file)) is not None:
        write_audit_page(finding, format_name=format_name)
        return
    if code_name_or_file != "-" and not Path(code_name_or_file).exists():
        if set(code_name_or_file).isdisjoint("./"):
            write_rule(code_name_or_file, config=config, format_name=format_name, own=own)
        raise errors.InputError(f"{code_name_or_file}: no such file, and no check or mutation has that name")
    files = list(sources.find_files([code_name_or_file], stdin=sys.stdin.buffer))
    kinds = partial(sources.named_kinds, files)
    given = inputs.given_facts(facts, kubeconfig=kubeconfig, context_name=context_name, kinds=kinds)
    known = given.store if given else None
    with inputs.evaluator(inputs.find_config(config), engine="wasm", opa_url=None, known=known, own=own) as made:
        found = list(_explanations(map(sources.load, files), made, namespace=namespace))
    if not found:
        raise errors.InputError(f"{code_name_or_file}: no rule reads any object in it")
    if format_name == "json":
        click.echo(json.dumps([_described(place, each) for place, each in found], indent=2, sort_keys=True))
        return
    from usher.check.formats import rule_pages

    rule_pages.write_explanations(found, sys.stdout, everything=everything)


def _explanations(found: Iterable[Batch], evaluator: Evaluator, *, namespace: str) -> Iterator[tuple[str, Explanation]]:
    from usher.check.formats import wording

    batches = list(found)
    if problems := [wording.located(problem) for batch in batches for problem in batch.problems]:
        raise errors.InputError("\n".join(problems))
    every = values.Objects((item.value for batch in batches for item in batch.items), namespace=namespace)
    for batch in batches:
        objects = values.Objects((item.value for item in batch.items), namespace=namespace, others=every)
        for item in batch.items:
            request = Request(value=item.value, namespace=namespace, objects=objects, place="check")
            explanation = explaining.explain(evaluator, request)
            line = item.document.line if item.document is not None else 0
            if explanation.workload is not None:
                yield f"{batch.source}:{line}" if line else batch.source, explanation


def _described(place: str, explanation: Explanation) -> dict[str, object]:
    workload = explanation.workload
    return {
        "place": place,
        "kind": workload.kind if workload else "",
        "namespace": workload.namespace if workload else "",
        "name": workload.name if workload else "",
        "role": workload.role.value if workload else "",
        "roleReason": workload.role_reason if workload else "",
        "pools": [
            {"podSet": name, "pool": each.pool, "fits": each.fits, "reason": each.reason}
            for name, reasons in explanation.pools
            for each in reasons
        ],
        "exemption": explanation.exemption,
        "entries": [
            {
                "code": each.entry.code,
                "name": each.entry.name,
                "state": each.state.value,
                "texts": list(each.texts),
            }
            for each in explanation.entries
        ],
    }
