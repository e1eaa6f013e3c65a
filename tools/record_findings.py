"""Records the findings of all checks for every example manifest: golden data to read when a rule changes."""

import argparse
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import build_examples
import orjson

from usher import model, paths
from usher.cluster.facts.store import Store
from usher.config import load, models
from usher.policy import config_problems
from usher.policy import decision as policy_decision
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.engines.engine import CachedEngine
from usher.policy.engines.wasm import WasmEngine
from usher.policy.evaluator import Evaluator
from usher.review import admission_review

_PATIENCE = 60.0
"""Seconds for one evaluation: a machine that is busy with other work must not fail it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    recorded: dict[str, dict[str, object]] = {}
    for folder in sorted(arguments.policies.glob("usher/checks/*/*/examples")):
        evaluator = evaluator_of(folder)
        key = f"{folder.parts[-3]}/{folder.parts[-2]}"
        recorded[key] = {file.stem: results(evaluator, file) for file in manifests(folder)}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_bytes(orjson.dumps(recorded, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def manifests(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.yaml") if file.name not in build_examples.BESIDE)


def evaluator_of(folder: Path) -> Evaluator:
    """An evaluator with the configuration in the folder of the examples; all share one engine."""
    site, facts = folder / "usher.yaml", build_examples.facts(folder)
    return evaluator_with(build_examples.configuration(folder), file=site, facts=facts)


def evaluator_with(config: models.Config, *, file: Path | None = None, facts: Store | None = None) -> Evaluator:
    """An evaluator with this configuration; all share one engine.

    Raises:
        errors.ConfigError: the configuration has a mistake that `usher` would refuse too.
    """
    packaged = _packaged()
    problems = config_problems.problems(config, packaged.catalogue)
    if problems:
        raise load.config_error(file, problems)
    config = with_checks_of_strict(config, packaged.catalogue)
    return Evaluator(engine=packaged.engine, entries=packaged.catalogue, config=config, facts=facts)


def with_checks_of_strict(config: models.Config, entries: catalogue.Catalogue) -> models.Config:
    """The configuration with the checks that only the preset `strict` has, each with the outcome of its severity."""
    outcomes = {
        check.name: policy_decision.PRESETS[config.enforcement.preset][check.severity]
        for check in entries.checks.values()
        if check.strict_only and check.severity is not None
    }
    rules = [models.EnforcementRule(check=name, action=outcome.value) for name, outcome in outcomes.items()]
    changed = config.enforcement.model_copy(update={"rules": [*rules, *config.enforcement.rules]})
    return config.model_copy(update={"enforcement": changed})


@lru_cache(maxsize=1)
def _packaged() -> Evaluator:
    bundle = catalogue.load()
    engine = CachedEngine(WasmEngine(bundle.module, deadline=_PATIENCE))
    return Evaluator(engine=engine, entries=bundle.catalogue, config=models.Config())


def request_of(file: Path) -> Request:
    """The example as admission sees it: a manifest without a user, or the request of an AdmissionReview."""
    value: paths.Object = build_examples.read_yaml(file)
    if value["kind"] != "AdmissionReview":
        return Request(value=value, place="check", objects=build_examples.objects(file))
    complete = {
        "apiVersion": admission_review.API_VERSION,
        "kind": value["kind"],
        "request": {"uid": "example"} | asked(value),
    }
    return admission_review.request_of(admission_review.parse(orjson.dumps(complete)))


def asked(value: paths.Object) -> paths.Object:
    """The request of an AdmissionReview."""
    request = value["request"]
    assert isinstance(request, dict)
    return request


def results(evaluator: Evaluator, file: Path) -> dict[str, object]:
    """Findings and unknowns of all checks, in their order."""
    decision = evaluator.decide(request_of(file))
    return {
        "findings": [dict(_finding(judgement)) for judgement in decision.judgements],
        "unknown": [
            {"check": unknown.check, "path": unknown.path, "reason": unknown.reason} for unknown in decision.unknowns
        ],
    }


def _finding(judgement: model.Judgement) -> Iterator[tuple[str, str]]:
    finding = judgement.finding
    yield "check", f"{judgement.code} {judgement.name}"
    yield "outcome", judgement.outcome.value
    yield "path", finding.path
    yield "message", finding.message
    if finding.remedy:
        yield "remedy", finding.remedy
    if judgement.because:
        yield "because", judgement.because


if __name__ == "__main__":
    main()
