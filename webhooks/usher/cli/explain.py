"""`usher explain`: explains one rule or finding, or what every rule says of one file."""

import json
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from usher import errors
from usher.check import sources
from usher.check.batches import Batch
from usher.cli import given_policies, inputs
from usher.cli import policies as cli_policies
from usher.kinds.reading import values
from usher.policy import explaining
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Explanation


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
        cli_policies.explain(code_name_or_file, config=config, format_name=format_name, own=own)
        return
    if (finding := cli_policies.find_audit_entry(code_name_or_file)) is not None:
        cli_policies.write_audit_page(finding, format_name=format_name)
        return
    if code_name_or_file != "-" and not Path(code_name_or_file).exists():
        if set(code_name_or_file).isdisjoint("./"):
            cli_policies.explain(code_name_or_file, config=config, format_name=format_name, own=own)
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
