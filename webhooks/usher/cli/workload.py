"""`usher workload`: what usher reads from a manifest."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import inputs

if TYPE_CHECKING:
    from usher import model, paths
    from usher.config import models
    from usher.scan.batches import Batch
    from usher.workloads.accelerators import Vocabulary


@click.group()
def workload() -> None:
    """Show what usher reads from a manifest."""


@workload.command()
@click.argument("file")
@inputs.config_option
@click.option(
    "-n",
    "--namespace",
    default="default",
    show_default=True,
    help="Namespace of objects that name none, as in kubectl.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: also `input`, which is exactly what the policies see.",
)
def show(*, file: str, config: Path | None, namespace: str, form: str) -> None:
    """Show the workloads in FILE (- for standard input) as the policies see them.

    Role, pods and why so many, accelerators, scheduler, containers, and what could not be read.
    """
    from usher.scan import sources
    from usher.workloads.accelerators import Vocabulary
    from usher.workloads.normalise import normalise

    loaded = inputs.load_config(inputs.find_config(config))
    vocabulary = Vocabulary(loaded.accelerators)
    batches = list(sources.read([file], stdin=sys.stdin.buffer))
    _require_objects(batches, file)
    found = [
        (batch.source, item.document.line if item.document else 0, workload)
        for batch in batches
        for item in batch.items
        if (workload := normalise(item.value, vocabulary=vocabulary, namespace=namespace)) is not None
    ]
    if not found:
        raise errors.InputError(f"{file}: no object in it makes pods")
    if form == "json":
        _print_json(found, config=loaded, vocabulary=vocabulary)
        return
    from usher.reports import wording

    for number, (source, line, each) in enumerate(found):
        if number:
            click.echo()
        click.echo(wording.harmless(wording.printable(f"{source}:{line}")))
        for text in _described(each):
            click.echo(wording.harmless(wording.printable(text)))


def _require_objects(batches: "list[Batch]", file: str) -> None:
    from usher.reports import wording

    problems = [problem for batch in batches for problem in batch.problems]
    if problems:
        raise errors.InputError("\n".join(wording.located(problem) for problem in problems))
    if not any(batch.items for batch in batches):
        raise inputs.no_manifests([file], notes=[note for batch in batches for note in batch.notes])


def _print_json(
    found: "list[tuple[str, int, model.Workload]]", *, config: "models.Config", vocabulary: "Vocabulary"
) -> None:
    import orjson

    from usher.policy.document import Documents

    documents = Documents(config, vocabulary)
    entries = [
        {
            "source": source,
            "line": line,
            "kind": each.kind,
            "namespace": each.namespace,
            "name": each.name,
            "unknowns": [{"path": unknown.path, "reason": unknown.reason} for unknown in each.unknowns],
            "input": orjson.loads(documents.build(each)),
        }
        for source, line, each in found
    ]
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
    click.echo(orjson.dumps(entries, option=options).decode())


def _described(workload: "model.Workload") -> Iterator[str]:
    version = f"{workload.group}/{workload.version}" if workload.group else workload.version
    where = f"{workload.namespace}/" if workload.namespace else ""
    yield f"{workload.kind} {where}{workload.name or '(unnamed)'} ({version})"
    state = ", suspended" if workload.suspended else ", being deleted" if workload.deleting else ""
    yield f"  role          {workload.role}{state}"
    yield f"  pods          {_pods(workload.pods)}"
    yield f"  accelerators  {_totals(workload)}"
    if workload.owner_kind:
        yield f"  owner         {workload.owner_kind}"
    gang = "always" if workload.gang_native else _readable(workload.gang_policy_path)
    yield f"  gang          {gang or 'no place for it in this kind'}"
    yield f"  queue label   {_readable(workload.queue_label_path, '.labels') or 'Kueue does not take this kind'}"
    for pod_set in workload.pod_sets:
        yield from _pod_set(pod_set)
    if workload.unknowns:
        yield "  could not be read:"
        yield from (f"    {_readable(unknown.path)}: {unknown.reason}" for unknown in workload.unknowns)


def _pod_set(pod_set: "model.PodSet") -> Iterator[str]:
    yield f"  pod set {pod_set.name or '(the pod)'}: {_pods(pod_set.count)}"
    yield f"    at             {_readable(pod_set.path)}"
    each = ", ".join(f"{quantity} {name}" for name, quantity in pod_set.accelerators.items())
    claims = f"{pod_set.device_claims} device claims" if pod_set.device_claims else ""
    yield f"    each pod asks  {', '.join(filter(None, (each, claims))) or 'no accelerators'}"
    settings = {
        "scheduler": pod_set.scheduler_name,
        "priority": pod_set.priority_class_name,
        "runtime": pod_set.runtime_class_name,
        "node": pod_set.node_name,
        "node labels": ", ".join(f"{key}={value}" for key, value in pod_set.node_selector.items()),
        "tolerates": ", ".join(_toleration(toleration) for toleration in pod_set.tolerations),
    }
    yield from (f"    {label:<13}  {value}" for label, value in settings.items() if value)
    for container in pod_set.containers:
        yield f"    {container.type} {container.name or '(unnamed)'}: {_resources(container)}"


def _pods(count: "model.Count") -> str:
    from usher.reports import wording

    return f"{wording.pods(count)} ({count.reason})" if count.reason else wording.pods(count)


def _totals(workload: "model.Workload") -> str:
    totals = workload.accelerators.items()
    texts = [f"{'no limit of' if number is None else format(number, ',')} {name}" for name, number in totals]
    return ", ".join(texts) or "none"


def _resources(container: "model.Container") -> str:
    names = dict.fromkeys((*container.requests, *container.limits))
    texts = [f"{name} {container.requests.get(name, '-')}/{container.limits.get(name, '-')}" for name in sorted(names)]
    return f"requests/limits {', '.join(texts)}" if texts else "asks for nothing"


def _toleration(toleration: "dict[str, paths.Json] | object") -> str:
    if not isinstance(toleration, dict):
        return str(toleration)
    key = toleration.get("key") or "everything"
    value = f"={toleration['value']}" if toleration.get("value") else ""
    return f"{key}{value}:{toleration.get('effect') or '*'}"


def _readable(pointer: str | None, suffix: str = "") -> str:
    from usher import paths

    return "" if pointer is None else f"{paths.readable(pointer)}{suffix}"
