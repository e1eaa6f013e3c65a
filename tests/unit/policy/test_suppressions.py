"""The webhooks do not honour what authors suppress, unless usher.yaml says so."""

import contextlib
from datetime import date
from typing import Any

import builders
from usher import model
from usher.config import models
from usher.install.manifests import floor
from usher.policy import assembly
from usher.policy.checks import catalogue
from usher.policy.decision import Request

CODE = "USH1305"
GUARDED = "USH201"


def outcome(code: str, annotation: str, **enforcement: Any) -> model.Outcome | None:
    """The outcome of a finding in a review of a Job that suppresses it."""
    container = builders.container(gpus=1, env={"NVIDIA_VISIBLE_DEVICES": "all"})
    job = builders.job(builders.template(container), name="train", namespace="ml")
    job["metadata"]["annotations"] = {"gpu-usher.io/ignore": annotation}
    rules = [{"check": CODE, "action": "deny"}]
    config = models.Config.model_validate({"enforcement": {"preset": "strict", "rules": rules, **enforcement}})
    evaluator = assembly.embedded(config)
    with contextlib.closing(evaluator.engine):
        found = evaluator.decide(Request(value=job)).judgements
    return next((each.outcome for each in found if each.code == code), None)


def test_a_review_ignores_the_annotation_by_default() -> None:
    assert outcome(CODE, f"{CODE}: let me in") is model.Outcome.DENY
    assert outcome(CODE, f"{CODE}: let me in", rules=[{"check": CODE, "action": "warn"}]) is model.Outcome.WARN


def test_a_review_honours_it_where_usher_yaml_allows_it() -> None:
    allowed = {"checks": [CODE], "denials": True, "places": ["admission"], "namespaces": ["ml"]}

    assert outcome(CODE, f"{CODE}: agreed", suppressions=[allowed]) is model.Outcome.AUDIT
    assert outcome(CODE, f"{CODE}: agreed", suppressions=[{**allowed, "namespaces": ["web"]}]) is model.Outcome.DENY
    assert outcome(CODE, f"{CODE} until 2020-01-01: over", suppressions=[allowed]) is model.Outcome.DENY


def test_no_wide_rule_lets_authors_suppress_what_protects_others() -> None:
    wide = {"checks": ["*"], "denials": True, "places": ["admission"]}

    assert outcome(CODE, f"{CODE}: agreed\n{GUARDED}: mine", suppressions=[wide]) is model.Outcome.AUDIT
    assert outcome(GUARDED, f"{GUARDED}: mine", suppressions=[wide]) is model.Outcome.DENY


def test_the_floor_denies_nothing_that_authors_may_suppress_at_admission() -> None:
    entry = catalogue.load().catalogue.find("USH103")
    assert entry is not None
    allowed = {"checks": ["USH103"], "denials": True, "places": ["admission"], "namespaces": ["ml"]}

    def denied(*rules: dict[str, Any]) -> str:
        config = models.Config.model_validate({"enforcement": {"suppressions": list(rules)}})
        return floor.denied_here(entry, config, date.min)

    assert denied() == denied({**allowed, "places": ["check"]}) == denied({**allowed, "checks": ["*"]}) == floor.ALWAYS
    assert denied({**allowed, "namespaces": ["*"]}) == floor.NEVER
    assert "ml" in denied(allowed)
