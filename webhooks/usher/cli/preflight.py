"""`usher preflight`: what a cluster needs before usher enforces anything in it."""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import Struct

from usher import model
from usher.check import findings
from usher.check.formats import wording
from usher.cli import inputs
from usher.config import models
from usher.install import preflight as install_preflight
from usher.install.preflight import Point, PointState, attention_point, good_point, unknown_point


class Denied(Struct, frozen=True, kw_only=True):
    """The workloads of one namespace that one check would deny if they were created again."""

    code: str
    check: str
    namespace: str
    workloads: int
    example: str


def denials_of(report: findings.Report) -> tuple[Denied, ...]:
    """The denials of an audit, the most frequent first."""
    numbers: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], str] = {}
    for result in report.results:
        found = {
            (each.judgement.code, each.judgement.name, result.identity.namespace)
            for each in result.findings
            if each.judgement.outcome is model.Outcome.DENY
        }
        for key in found:
            numbers[key] += 1
            examples.setdefault(key, str(result.identity))
    return tuple(
        Denied(code=key[0], check=key[1], namespace=key[2], workloads=number, example=examples[key])
        for key, number in sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    )


def points_of_denials(report: findings.Report, denied: tuple[Denied, ...]) -> Iterator[Point]:
    topic = "workloads"
    yield from _points_of_unread(report)
    if report.failures:
        yield unknown_point(topic, f"{len(report.failures)} objects could not be judged because of errors in usher")
    number = sum(result.worst is model.Outcome.DENY for result in report.results)
    if not number:
        yield good_point(topic, f"none of {report.totals.workloads} workloads would be denied")
        return
    namespaces = len({each.namespace for each in denied})
    within = "one namespace" if namespaces == 1 else f"{namespaces} namespaces"
    text = f"{number} of {report.totals.workloads} workloads, in {within}, would be denied if they came now"
    yield attention_point(topic, text, "tell their owners, mend them, or write rules and exceptions into usher.yaml")


def _points_of_unread(report: findings.Report) -> Iterator[Point]:
    """One point for each reason why kinds or groups were not read, with their number: there are more than a hundred."""
    sources: dict[str, list[tuple[str, str]]] = {}
    hidden = [(each.source, each.reason) for each in report.notes if each.hides_objects]
    for source, reason in [*((each.source, each.reason) for each in report.problems), *hidden]:
        alike = _PATH.sub("...", reason.replace(source, "..."))
        sources.setdefault(alike, []).append((source, reason))
    for found in sources.values():
        names = [name for name, _ in found]
        others = f" and {len(names) - _NAMED} others" if len(names) > _NAMED else ""
        number = f"{len(names)} kinds and groups, " if len(names) > 1 else ""
        yield unknown_point("workloads", f"{number}{', '.join(names[:_NAMED])}{others}: {found[0][1]}")


_PATH: Final = re.compile(r"/apis?/[^\s:,;\"']+")
_NAMED: Final = 5
"""The most kinds that one point names."""

_MARKS: Final = {PointState.GOOD: "good     ", PointState.ATTENTION: "attention", PointState.NOT_KNOWN: "not known"}
_SHOWN: Final = 20
"""The most lines of denials in the text; JSON has all of them."""


def _lines(cluster: str, preset: str, points: Sequence[Point], denied: Sequence[Denied]) -> Iterator[str]:
    """The lines of the text, made safe for a terminal because others choose the names of webhooks and namespaces."""
    yield wording.harmless(wording.printable(f"{cluster}, judged by the preset {preset}"))
    for each in points:
        yield wording.harmless(wording.printable(f"  {_MARKS[each.state]}  {each.topic}: {each.text}"))
        if each.remedy:
            yield wording.harmless(wording.printable(f"             {each.remedy}"))
    if denied:
        yield ""
        yield "Denied if they came now:"
    for entry in denied[:_SHOWN]:
        number = wording.count(entry.workloads, "workload")
        place = f"{entry.code} {entry.check} in {entry.namespace or '(no namespace)'}"
        yield wording.harmless(wording.printable(f"  {place}: {number}, for example {entry.example}"))
    if len(denied) > _SHOWN:
        yield f"  and {len(denied) - _SHOWN} more lines; --format json has all of them"
    count = sum(each.state is PointState.ATTENTION for each in points)
    unknown = sum(each.state is PointState.NOT_KNOWN for each in points)
    yield ""
    yield f"{wording.count(count, 'point')} for attention, {unknown} not known"


@inputs.command("preflight")
@click.pass_context
def preflight(
    context: click.Context,
    *,
    config: Path | None,
    kubeconfig: Path | None,
    context_name: str | None,
    server_namespace: str,
    format_name: str,
) -> None:
    from usher.check import cluster_objects as workloads
    from usher.check import findings, judging, runner
    from usher.cluster import connection, recording
    from usher.policy import assembly

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    looked = install_preflight.read_cluster(api, namespace=server_namespace)
    asked = connection.connect(kubeconfig=kubeconfig, context=context_name, hurried=True)
    refusal = install_preflight.why_server_refuses(asked, namespace=server_namespace)
    file = inputs.find_config(config)
    known = recording.store_of_recorded(list(recording.read_facts(api)))
    settings = judging.Settings(command=findings.Command.AUDIT, configuration=str(file or ""), origin=api.name)
    enforced = _enforced(inputs.load_config(file))
    evaluator = assembly.embedded(enforced, file=file, facts=known)
    with contextlib.closing(evaluator.engine):
        audited = runner.run(workloads.read(api), evaluator=evaluator, settings=settings)
    denied = denials_of(audited)
    found = [
        *install_preflight.preflight_points(
            looked, namespace=server_namespace, refusal=refusal, now=install_preflight.today()
        ),
        *points_of_denials(audited, denied),
    ]
    preset = enforced.enforcement.preset
    if format_name == "json":
        document = {"cluster": api.name, "preset": preset, "points": found, "denied": denied}
        click.echo(json.dumps(msgspec.to_builtins(document), indent=2))
    else:
        click.echo("\n".join(_lines(api.name, preset, found, denied)))
    states = {each.state for each in found}
    context.exit(2 if PointState.NOT_KNOWN in states else 1 if PointState.ATTENTION in states else 0)


def _enforced(config: models.Config) -> models.Config:
    """The configuration with `recommended` in place of `observe`, which would deny nothing."""
    if config.enforcement.preset != "observe":
        return config
    enforcement = config.enforcement.model_copy(update={"preset": "recommended"})
    return config.model_copy(update={"enforcement": enforcement})
