"""Checks and mutations that are off are not evaluated, and every answer is the same as if they were."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import build_examples
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import generated_examples
import opa_server
from unit.policy.mutation import generated
from usher import model, paths
from usher.config import models, selection
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.policy.decision import Request
from usher.policy.engines.engine import ALL_CHECKS, Engine, Entrypoint
from usher.policy.engines.wasm import WasmEngine
from usher.policy.evaluator import Evaluator
from usher.policy.excused_findings import Circumstances

pytestmark = opa_server.needs_opa

ENTRIES: Final = catalogue.load().catalogue

ROLES: Final = list(model.Role)
PLACES: Final[list[selection.Place]] = ["admission", "check", "audit"]
NAMESPACES: Final = ["research", "other"]

WORDS: Final = ["*", "USH101", "resources", "isolation", "gpu-toleration-present", "placement", "queueing"]
rules = st.fixed_dictionaries(
    {"check": st.sampled_from(WORDS), "action": st.sampled_from(["off", "off", "warn", "deny"])},
    optional={
        "namespaces": st.just(["res*"]),
        "roles": st.lists(st.sampled_from([role.value for role in ROLES]), min_size=1, max_size=2),
        "places": st.lists(st.sampled_from(PLACES), min_size=1, max_size=2),
    },
)
enforcements = st.fixed_dictionaries(
    {"preset": st.sampled_from(list(decision.PRESETS)), "rules": st.lists(rules, max_size=4)}
).map(models.Enforcement.model_validate)


class Asking:
    """An engine that evaluates all checks, also those that are off."""

    name = "asking"
    waits = False

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        del left_out
        return self._engine.evaluate(entrypoint, document)

    def ready(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def engine() -> Iterator[WasmEngine]:
    made = WasmEngine(catalogue.load().module)
    yield made
    made.close()


def found_by(result: Any) -> set[str]:
    return {each["check"] for each in result["findings"]}


def sorted_of(result: Any, wanted: Callable[[str], bool] = lambda _: True) -> Any:
    """A result with the findings of some checks; a module gives them in no order."""
    findings = [each for each in result["findings"] if wanted(each["check"])]
    return {**result, "findings": sorted(findings, key=orjson.dumps)}


@pytest.mark.costly
def test_every_check_can_be_left_out_alone_and_judge_alone(engine: WasmEngine) -> None:
    documents = {
        key: [orjson.dumps(value) for name, value in found.items() if name.startswith("bad")]
        for place, found in build_examples.build(opa_server.POLICIES)
        if (key := place.removeprefix("checks/")) in ENTRIES.checks
    }

    for key, check in ENTRIES.checks.items():
        others = catalogue.table_of_numbers(each for each in ENTRIES.checks.values() if each is not check)
        for document in documents[key][:2]:
            every: Any = engine.evaluate(Entrypoint.FINDINGS, document)
            without: Any = engine.evaluate(Entrypoint.FINDINGS, document, catalogue.table_of_numbers([check]))
            alone: Any = engine.evaluate(Entrypoint.FINDINGS, document, others)

            assert key in found_by(every)
            assert sorted_of(without) == sorted_of(every, key.__ne__)
            assert sorted_of(alone) == sorted_of(every, key.__eq__)


@settings(max_examples=generated_examples.up_to(200), deadline=None)
@given(enforcement=enforcements)
def test_the_table_has_the_checks_whose_findings_have_no_outcome(enforcement: models.Enforcement) -> None:
    off = decision.OffChecks(ENTRIES, enforcement)

    for namespace, place, role in zip(NAMESPACES * 3, PLACES * 2, ROLES * 2, strict=False):
        where = Circumstances(namespace=namespace, role=role, place=place)
        expected = [
            check
            for check in ENTRIES.checks.values()
            if decision.outcome_of_finding(
                model.Finding(check=check.key, path="", message=""), check, where=where, enforcement=enforcement
            )[0]
            is decision.OFF
        ]
        assert off.at(namespace, role, place) == catalogue.table_of_numbers(expected)


@settings(max_examples=generated_examples.up_to(200), deadline=None)
@given(
    enforcement=enforcements,
    pod=generated.pods(gpus=st.sampled_from([0, 1, 8, "8", "x"]), garbage=True),
    place=st.sampled_from(PLACES),
    namespace=st.sampled_from(NAMESPACES),
)
def test_decisions_do_not_depend_on_what_was_left_out(
    engine: WasmEngine, enforcement: models.Enforcement, pod: Any, place: Any, namespace: str
) -> None:
    config = models.Config.model_construct(**{**dict(models.Config()), "enforcement": enforcement})
    request = Request(value=pod, namespace=namespace, place=place)

    decided, expected = (
        Evaluator(engine=each, entries=ENTRIES, config=config).decide(request) for each in (engine, Asking(engine))
    )

    assert decided == expected


@settings(max_examples=generated_examples.up_to(200), deadline=None)
@given(
    actions=st.dictionaries(st.sampled_from(["*", *ENTRIES.mutations]), st.sampled_from(["off", "warn", "apply"])),
    pod=generated.pods(gpus=st.sampled_from([0, 1, 8, "8", "x"]), garbage=True),
    namespace=st.sampled_from(NAMESPACES),
)
def test_patches_do_not_depend_on_mutations_that_are_off(
    engine: WasmEngine, actions: dict[str, str], pod: Any, namespace: str
) -> None:
    names = {key: entry.code for key, entry in ENTRIES.mutations.items()}
    rules = [{"mutation": names.get(key, key), "action": action} for key, action in actions.items()]
    config = models.Config.model_validate({"mutations": {"rules": rules}})
    request = Request(value=pod, namespace=namespace)

    patched, expected = (
        ask(Evaluator(engine=engine, entries=ENTRIES, config=config), request)
        for ask in (Evaluator.patch, Evaluator.mutate)
    )

    named = tuple(each for each in expected.skipped if not each.off)
    assert patched == replace(expected, value={}, skipped=named)


def test_own_checks_have_no_place_in_the_table() -> None:
    own = ENTRIES.checks["resources/whole_gpus_only"].model_copy(update={"code": "ACME101"})

    assert catalogue.table_of_numbers([own]) == b""


def test_a_module_without_the_function_evaluates_all_checks(tmp_path: Path) -> None:
    policy = "".join(f'{each.rpartition("/")[2]} := {{"version": 1}}\n' for each in Entrypoint)
    plain = WasmEngine(opa_server.compiled(f"package usher.main\n\n{policy}", tmp_path))

    assert plain.evaluate(Entrypoint.FINDINGS, b"{}", b"\1") == {"version": 1}
