"""Properties of every mutated object, with any values of the user."""

from collections.abc import Callable, Iterator
from typing import Any

import jsonpatch
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import generated_examples
from unit.policy.mutation import generated
from unit.policy.mutation.manifests import CONTAINER, container, intent, merged, pod, runtime
from usher import paths
from usher.config import models
from usher.kinds.reading.values import Objects
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge
from usher.policy.mutation.editing import Edit, copied

FABRIC_ENVIRONMENT = {"NCCL_IB_HCA": "=mlx5_0:1", "NCCL_DEBUG": "WARN", "PYTHONUNBUFFERED": "1"}

CONFIG = models.Config.model_validate(
    {
        "pools": [
            {
                "name": "h100",
                "nodeSelector": {generated.PRODUCT: generated.H100},
                "taints": [
                    {"key": "nvidia.com/gpu", "value": "present"},
                    {"key": "sku", "value": "gpu", "effect": "NoExecute"},
                ],
                "fabric": "rails",
            },
            {
                "name": "a100",
                "nodeSelector": {generated.PRODUCT: generated.A100},
                "taints": [{"key": "nvidia.com/gpu", "value": "present"}],
                "fabric": "rails",
            },
        ],
        "fabrics": {"rails": {"env": FABRIC_ENVIRONMENT}},
        "queues": [
            {"namespaces": ["queued", "routed"], "localQueue": "research", "topology": {"preferred": "rack"}},
            {"namespaces": ["unplaced"], "localQueue": "research", "placesPods": False},
        ],
        "routing": [{"namespaces": ["routed"], "queue": "research"}],
        "mutations": {"rules": [{"mutation": "*", "action": "apply"}]},
    }
)

RUNTIMES = Objects(
    [runtime(node=container(name="node", resources={"limits": {"nvidia.com/gpu": 8}}), tolerations=[{"key": "team"}])]
)

SERVED_CHECKS = [
    "placement/gpu_toleration_present",
    "placement/gpu_node_affinity_present",
    "queueing/queue_label_missing",
]

UNSET_WHEN_EMPTY = ("/schedulerName", "/schedulingPolicy/queue", "/" + paths.escape(generated.QUEUE_LABEL))
"""Fields in which the API takes "" for nothing."""

# Building a manifest takes longer than judging it, so the health check of slow data says nothing about our code.
thoroughly = settings(
    deadline=None, max_examples=generated_examples.up_to(200), suppress_health_check=[HealthCheck.too_slow]
)


Mutate = Callable[..., merge.Merged]


@pytest.fixture(scope="module")
def evaluators() -> Iterator[dict[bool, Evaluator]]:
    """One with our configuration, and one without any."""
    both = {True: assembly.embedded(CONFIG), False: assembly.embedded(models.Config())}
    yield both
    for evaluator in both.values():
        evaluator.engine.close()


@pytest.fixture(scope="module")
def mutate(evaluators: dict[bool, Evaluator]) -> Mutate:
    def mutate(value: paths.Object, *, configured: bool = True) -> merge.Merged:
        return evaluators[configured].mutate(Request(value=value, objects=RUNTIMES))

    return mutate


def leaves(value: paths.Json, pointer: str = "") -> Iterator[tuple[str, paths.Json]]:
    """Everything that holds nothing further, empty objects and lists included, by its path."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from leaves(child, paths.join(pointer, key))
    elif isinstance(value, list) and value:
        for index, child in enumerate(value):
            yield from leaves(child, paths.join(pointer, index))
    else:
        yield pointer, value


def is_set(pointer: str, value: paths.Json) -> bool:
    return value is not None and not (value == "" and pointer.endswith(UNSET_WHEN_EMPTY))


@thoroughly
@given(value=generated.any_manifests(), configured=st.booleans())
def test_mutating_twice_does_the_same_as_mutating_once(
    mutate: Mutate, value: paths.Object, *, configured: bool
) -> None:
    once = mutate(value, configured=configured)
    twice = mutate(once.value, configured=configured)

    assert twice.value == once.value
    assert twice.operations == ()


@thoroughly
@given(value=generated.any_manifests(), configured=st.booleans())
def test_the_patch_gives_exactly_the_returned_object(mutate: Mutate, value: paths.Object, *, configured: bool) -> None:
    result = mutate(value, configured=configured)
    patch = jsonpatch.JsonPatch.from_string(orjson.dumps(result.operations).decode())

    assert patch.apply(copied(value)) == merge.patched(value, result.operations) == result.value
    assert bool(result.operations) is bool(result.applied)


@thoroughly
@given(value=generated.any_manifests())
def test_the_original_is_never_changed(mutate: Mutate, value: paths.Object) -> None:
    before = orjson.dumps(value)

    mutate(value)

    assert orjson.dumps(value) == before


@thoroughly
@given(value=generated.any_manifests(), configured=st.booleans())
def test_nothing_that_the_user_set_is_changed_or_removed(
    mutate: Mutate, value: paths.Object, *, configured: bool
) -> None:
    result = mutate(value, configured=configured).value
    own = paths.join("/metadata/annotations", merge.ANNOTATION)

    for pointer, leaf in leaves(value):
        if pointer == own or not is_set(pointer, leaf):
            continue
        found = paths.resolve(result, pointer)
        if leaf in ({}, []):
            assert type(found) is type(leaf), pointer
        else:
            assert found == leaf, pointer


@thoroughly
@given(value=generated.any_manifests())
def test_usher_never_adds_a_variable_that_a_container_already_has(mutate: Mutate, value: paths.Object) -> None:
    for added in mutate(value).applied:
        if added.field in ("environment", "enforcedEnvironment"):
            assert isinstance(added.value, dict)
            # The containers of a TrainJob stand in its runtime, and their variables in the TrainJob.
            place = "/spec/trainer" if value["kind"] == "TrainJob" else added.at
            before = Edit(value).get(place) or {}
            assert isinstance(before, dict)
            present = before.get("env") or []
            assert isinstance(present, list)
            assert added.value["name"] not in [entry.get("name") for entry in present if isinstance(entry, dict)]


@pytest.mark.parametrize("check", SERVED_CHECKS)
@thoroughly
@given(value=generated.gpu_manifests())
def test_a_mutated_object_passes_the_check_that_its_mutation_serves(
    evaluators: dict[bool, Evaluator], check: str, value: paths.Object
) -> None:
    evaluator = evaluators[True]
    assert check in evaluator.catalogue.checks

    merged = evaluator.mutate(Request(value=value))
    decision = evaluator.decide(Request(value=merged.value))

    found = [judged.finding for judged in decision.judgements if judged.finding.check == check]
    assert found == [] or merged.warnings, "a mutation that keeps its promise only in part says so"


TWO_VALUES: dict[str, tuple[str, Any, Any]] = {
    "toleration": (
        "",
        {"key": "a", "operator": "Exists", "effect": "NoExecute"},
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
    ),
    "nodeRequirement": (
        "",
        {"key": "a", "operator": "In", "values": ["1"]},
        {"key": "a", "operator": "In", "values": ["2"]},
    ),
    "schedulerName": ("", {"name": "volcano"}, {"name": "kai-scheduler"}),
    "kueueLabel": (
        "",
        {"key": generated.QUEUE_LABEL, "value": "one"},
        {"key": generated.QUEUE_LABEL, "value": "two"},
    ),
    "gangSetting": ("", {"setting": "queue", "value": "one"}, {"setting": "queue", "value": "two"}),
    "environment": (CONTAINER, {"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "NCCL_DEBUG", "value": "WARN"}),
}


@thoroughly
@given(field=st.sampled_from(sorted(TWO_VALUES)), turned=st.booleans(), bystander=st.booleans())
def test_of_two_intents_with_different_values_for_one_place_neither_is_applied(
    field: str, *, turned: bool, bystander: bool
) -> None:
    at, first, second = TWO_VALUES[field]
    pair = [intent(field, first, at=at, mutation="a/one"), intent(field, second, at=at, mutation="b/two")]
    if turned:
        pair.reverse()
    other = intent("environment", {"name": "OTHER", "value": "1"}, at=CONTAINER, mutation="c/three")
    value = pod()
    result = merged(value, *pair, *([other] if bystander else []))
    alone = merged(value, other) if bystander else merge.Merged(value=value)

    assert result.conflicts == (tuple(pair),)
    assert result.value == alone.value
    assert result.operations == alone.operations
    assert result.applied == alone.applied
