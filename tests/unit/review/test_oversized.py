"""Objects that are too much to judge: both webhooks deny them, and name the part that is too much."""

import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engines
from builders import (
    container,
    deployment,
    job,
    job_set,
    pod,
    ray_cluster,
    ray_group,
    replicated_job,
    template,
    volcano_job,
    volcano_task,
)
from engine_work import SECOND, CountingEngine
from generated_examples import in_turn
from reviews import body, review
from usher import errors, paths
from usher.config import models
from usher.policy.engines.engine import Entrypoint
from usher.policy.evaluator import Evaluator
from usher.review import admission_review
from usher.review.webhooks import mutate, validate
from usher.workloads import identity

MOST = identity.MOST_ENTRIES_OF_POD["containers"]
NAME = "too-large-to-judge"


@pytest.fixture(scope="module")
def engine() -> Iterator[CountingEngine]:
    made = CountingEngine()
    yield made
    made.close()


@pytest.fixture(scope="module")
def evaluator(engine: CountingEngine) -> Evaluator:
    config = models.Config(exempt_namespaces=["kube-system"], enforcement=models.Enforcement(preset="strict"))
    return Evaluator(engine=engine, entries=engine.entries, config=config)


def privileged(name: str = "main", **fields: Any) -> paths.Object:
    """A container that the rules refuse, so that any answer that allows it is an answer without a judgement."""
    return container(name, gpus=1, securityContext={"privileged": True}, **fields)


def with_containers(number: int) -> paths.Object:
    return job(template(*(privileged(f"c{index}") for index in range(number))))


def response(by: Callable[..., Any], value: paths.Object, evaluator: Evaluator, **request: Any) -> Any:
    return orjson.loads(by(body(value, **request), evaluator).body)["response"]


def exhausted(_: Entrypoint) -> paths.Object:
    raise errors.ExhaustedError("more for the rules to do than usher has time for (0.9 s)")


def mounts(number: int) -> list[paths.Json]:
    return [{"name": f"v{index}", "mountPath": f"/mnt/{index}"} for index in range(number)]


def empty_dirs(number: int) -> list[paths.Json]:
    return [{"name": f"v{index}", "emptyDir": {}} for index in range(number)]


def host_paths(number: int) -> list[paths.Json]:
    return [{"name": f"v{index}", "hostPath": {"path": f"/var/run/{index}"}} for index in range(number)]


def very_many_values() -> paths.Object:
    command: paths.Json = {"preStop": {"exec": {"command": [""] * 211_000}}}
    return pod(privileged(lifecycle=command), labels={f"l{index}": "" for index in range(40_000)})


def nested(levels: int) -> paths.Object:
    value = ray_cluster(ray_group("workers", template(privileged())))
    inner: Any = value["spec"]
    for _ in range(levels - 2):
        inner["more"] = {}
        inner = inner["more"]
    return value


ATTACKS: dict[str, paths.Object] = {
    "251,000 values": very_many_values(),
    "25 containers x 600 mounts": pod(
        *(privileged(f"c{index}", volumeMounts=mounts(600)) for index in range(25)), volumes=empty_dirs(600)
    ),
    "80 containers x 200 MIG names": pod(
        *(
            privileged(f"c{index}", limits={f"nvidia.com/mig-{n % 7 + 1}g.{n}gb": 1 for n in range(200)})
            for index in range(80)
        )
    ),
    "400 tasks": volcano_job(*(volcano_task(f"t{index}", template(privileged())) for index in range(400))),
    "12,000 device annotations": pod(
        privileged(),
        annotations={f"devices.gke.io/container.c{index}": "- path: /dev/nvidia0" for index in range(12_000)},
    ),
    "80 containers x 80 host paths": pod(
        *(privileged(f"c{index}", volumeMounts=mounts(80)) for index in range(80)), volumes=host_paths(80)
    ),
    "1,000 host paths": pod(privileged(volumeMounts=mounts(1000)), volumes=host_paths(1000)),
    "300 groups": ray_cluster(*(ray_group(f"g{index}", template(privileged())) for index in range(300))),
    "300 jobs": job_set(*(replicated_job(f"j{index}", template(privileged())) for index in range(300))),
    "a million characters": pod(privileged(command=["sh", "-c", "python train.py --x y; " * 45_000])),
    "600 levels": nested(600),
    "5,000 levels": nested(5000),
}  # fmt: skip


def deep_body(value: paths.Object) -> bytes:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        return json.dumps(review(value), separators=(",", ":")).encode()
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough) if name in ("300 groups", "300 jobs") else name
        for name in ATTACKS
    ],
)
def test_what_costs_too_much_is_denied_and_what_does_not_is_judged(
    name: str, evaluator: Evaluator, engine: CountingEngine
) -> None:
    request = deep_body(ATTACKS[name])
    engine.done.clear()
    for by in (mutate, validate):
        answer = by(request, evaluator)

    assert not answer.allowed
    assert {"privileged-container", NAME} & answer.outcomes.keys()
    assert all(work.instructions < SECOND / 2 for work in engine.done), engine.done


@pytest.mark.parametrize("by", [mutate, validate])
def test_an_object_with_too_many_values_is_measured_once_and_without_a_path_for_each(
    by: Callable[..., Any], evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it takes so long that a busy server answers too late, and failurePolicy lets the object in."""
    calls: Counter[str] = Counter()

    def counted(call: Callable[..., Any], *values: Any) -> Any:
        calls[call.__name__] += 1
        return call(*values)

    monkeypatch.setattr(paths, "join", partial(counted, paths.join))
    monkeypatch.setattr(identity, "excess_of_whole", partial(counted, identity.excess_of_whole))

    by(body(ATTACKS["251,000 values"]), evaluator)

    assert calls["join"] < 100
    assert calls["excess_of_whole"] == 1


def tasks(number: int) -> paths.Object:
    few = (volcano_task(f"t{index}") for index in range(number - 1))
    return volcano_job(*few, volcano_task("bad", template(privileged())))


def groups(number: int) -> paths.Object:
    return ray_cluster(*(ray_group(f"g{index}", template(privileged())) for index in range(number)))


def jobs(number: int) -> paths.Object:
    return job_set(*(replicated_job(f"j{index}", template(privileged())) for index in range(number)))


def containers_of_all_pods(number: int) -> paths.Object:
    """In five groups, beside the container of the head."""
    sizes = [number // 5] * 4 + [number - 4 * (number // 5)]
    pods = [template(*(privileged(f"c{index}") for index in range(size))) for size in sizes]
    return ray_cluster(*(ray_group(f"g{index}", each) for index, each in enumerate(pods)))


def values(number: int) -> paths.Object:
    return pod(privileged(args=[""] * number))


def labels(number: int) -> paths.Object:
    return pod(privileged(), labels={f"l{index}": "" for index in range(number)})


AROUND: list[tuple[Callable[[int], paths.Object], dict[int, bool]]] = [
    *((make, {498: False, 500: False, 501: True, 900: True}) for make in (tasks, groups, jobs)),
    (containers_of_all_pods, {998: False, 999: False, 1000: True, 1400: True}),
    *((make, {1000: False, 30_000: False, 49_900: False, 50_001: True, 90_000: True}) for make in (values, labels)),
    (nested, {100: False, 249: False, 252: False, 253: True, 255: True, 300: True, 1030: True}),
]
"""How to make an object with a number of something, and whether the number is beyond the limit."""


class Around(NamedTuple):
    """An object around a limit."""

    make: Callable[[], paths.Object]
    is_beyond: bool
    thorough: bool = False
    """Whether a change does without it: others have the same limit, or the same kind."""


def generated() -> Iterator[tuple[str, Around]]:
    """Objects around every limit, by what they have. In a change each limit of a pod is tried in one of three kinds."""
    kinds: dict[str, Callable[..., paths.Object]] = {"pod": pod, "deployment": deployment, "job": job}
    fields = itertools.product(identity.MOST_ENTRIES_OF_POD.items(), (-1, 0, 1))
    for index, ((field, most), beyond) in enumerate(fields):
        for turn, (kind, make) in enumerate(kinds.items()):
            made = partial(of_kind, make, field, most + beyond)
            thorough = beyond < 0 or turn != (index // 3 + beyond) % len(kinds)
            yield f"{kind} with {most + beyond} {field}", Around(made, beyond > 0, thorough)
    for around, numbers in AROUND:
        nearest = max(number for number, is_beyond in numbers.items() if not is_beyond)
        for number, is_beyond in numbers.items():
            thorough = number not in (nearest, min(each for each in numbers if each > nearest))
            yield f"{number} {around.__name__}", Around(partial(around, number), is_beyond, thorough)


def of_kind(kind: Callable[..., paths.Object], field: str, number: int) -> paths.Object:
    """A Pod, or an object with one template, that has so many entries in a field."""
    of_container: dict[str, Any] = {}
    of_pod: dict[str, Any] = {}
    others: list[paths.Object] = []
    match field:
        case "containers":
            others = [container(f"c{index}") for index in range(number - 1)]
        case "initContainers" | "ephemeralContainers":
            of_pod[field] = [container(f"c{index}") for index in range(number)]
        case "limits" | "requests":
            amounts = {f"example.com/r{index}": 1 for index in range(number - (field == "limits"))}
            of_container[field] = amounts
        case "claims":
            of_container["claims"] = [f"claim-{index}" for index in range(number)]
        case "env":
            of_container["env"] = {f"E{index}": "1" for index in range(number)}
        case "volumeMounts" | "volumeDevices" | "ports" | "envFrom":
            of_container[field] = [{"name": f"n{index}", "mountPath": f"/n{index}"} for index in range(number)]
        case "nodeSelectorTerms" | "matchExpressions":
            expressions = [{"key": f"k{index}", "operator": "Exists"} for index in range(number)]
            one = field == "matchExpressions"
            terms = (
                [{"matchExpressions": expressions}] if one else [{"matchExpressions": [each]} for each in expressions]
            )
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
            of_pod["affinity"] = {"nodeAffinity": required}
        case "topologySpreadConstraints":
            of_pod[field] = [{"maxSkew": 1, "topologyKey": f"k{index}"} for index in range(number)]
        case _:
            of_pod[field] = [{"name": f"n{index}", "key": f"k{index}", "operator": "Exists"} for index in range(number)]
    main = privileged(**of_container)
    return pod(main, *others, **of_pod) if kind is pod else kind(template(main, *others, **of_pod))


GENERATED = dict(generated())


def in_a_change(name: str) -> bool:
    """Jobs of a JobSet stand for other lists of templates."""
    return not GENERATED[name].thorough and not name.endswith(("groups", "tasks"))


def test_there_are_two_hundred_objects_around_the_limits() -> None:
    assert len(GENERATED) >= 180


@pytest.mark.parametrize(
    "name",
    [
        *in_turn([name for name in GENERATED if in_a_change(name)], every=4, others=pytest.mark.costly),
        *(pytest.param(name, marks=pytest.mark.thorough) for name in GENERATED if not in_a_change(name)),
    ],
)
def test_an_object_around_a_limit_is_judged_or_denied_by_name(
    name: str, evaluator: Evaluator, engine: CountingEngine
) -> None:
    make, is_beyond, _ = GENERATED[name]
    request = deep_body(make())
    engine.done.clear()
    mutated = mutate(request, evaluator)
    answer = validate(request, evaluator)

    assert mutated.allowed is not is_beyond
    assert not answer.allowed
    assert (NAME in answer.outcomes) is is_beyond
    assert all(work.instructions < SECOND / 2 for work in engine.done), engine.done


def test_the_part_that_is_too_large_is_named_with_its_number_place_and_remedy() -> None:
    unused = engines.ScriptedEngine(lambda _: engines.result())
    value = with_containers(3000)

    found = identity.excess(value)

    assert found is not None
    assert found.path == "/spec/template/spec/containers"
    assert found.text == "3000 containers (spec.template.spec.containers), and usher judges at most 250 in a pod"
    assert found.remedy == "divide it among several pods"
    assert response(mutate, value, engines.evaluator(unused))["allowed"] is True


def test_the_message_names_what_to_divide(evaluator: Evaluator) -> None:
    said = response(validate, very_many_values(), evaluator)["status"]

    assert said["code"] == 403
    assert (
        "Pod has more than 50000 values, and usher judges at most that many; it has 211000 entries of command, most of "
        "them at spec.containers[0].lifecycle.preStop.exec.command. Divide it among several pods."
    ) in said["message"]


@pytest.mark.parametrize("by", [mutate, validate])
def test_an_object_that_exhausts_the_engine_is_denied_and_not_an_error(by: Callable[..., Any]) -> None:
    """An error would let it in where `failurePolicy` is Ignore."""
    calls = itertools.count()

    def answer(entrypoint: Entrypoint) -> paths.Object:
        return exhausted(entrypoint) if not next(calls) else found

    found = engines.result(
        findings=[
            {
                "check": "objects/too_large_to_judge",
                "finding": {"path": "/spec", "message": "Pod has more", "remedy": "divide it"},
            }
        ]
    )
    said = response(by, pod(), engines.evaluator(engines.ScriptedEngine(answer)))

    assert said["allowed"] is False
    assert "USH1480 too-large-to-judge: Pod has more. Divide it." in said["status"]["message"]


def test_what_was_as_large_before_may_change_and_be_deleted(evaluator: Evaluator) -> None:
    large, larger, small, ending = (with_containers(number) for number in (MOST + 1, MOST + 2, 1, MOST + 1))
    metadata: Any = ending["metadata"]
    metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    cases = (
        (large, large, True),
        (large, larger, True),
        (ending, small, True),
        (large, small, False),
        (larger, large, False),
    )
    for value, old, allowed in cases:
        assert response(validate, value, evaluator, operation="UPDATE", old_value=old)["allowed"] is allowed


@pytest.mark.parametrize(
    "request_fields",
    [{"namespace": "kube-system"}, {"operation": "DELETE"}, {"operation": "CONNECT"}],
    ids=["an exempt namespace", "a deletion", "a connection"],
)
def test_what_must_pass_passes(evaluator: Evaluator, request_fields: dict[str, str]) -> None:
    value = with_containers(MOST + 1)
    metadata: Any = value["metadata"]
    metadata.pop("namespace", None)

    assert response(validate, value, evaluator, **request_fields)["allowed"] is True


def test_the_status_and_the_upkeep_of_an_object_do_not_count(evaluator: Evaluator) -> None:
    """A controller may write a large status, as Argo does; and the API server keeps a field for each writer."""
    value = pod(container())
    value["status"] = {"nodes": {f"n{index}": {"phase": "Running"} for index in range(identity.MOST_VALUES)}}
    metadata: Any = value["metadata"]
    metadata["managedFields"] = [{"fieldsV1": {f"f:{index}": {} for index in range(identity.MOST_VALUES)}}]

    assert response(validate, value, evaluator, operation="UPDATE", old_value=pod(container()))["allowed"] is True


entries = st.recursive(
    st.sampled_from(["", ",{[", 1]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["containers", "env", "templates", "a", "b"]), inner, max_size=5)
        | st.integers(240, 260).map(lambda number: [1] * number)
        | st.integers(495, 505).map(lambda number: [{}] * number)
        | st.integers(245, 255).map(lambda number: dict.fromkeys(map(str, range(number)), 1))
    ),
    max_leaves=12,
)


@given(fields=st.dictionaries(st.sampled_from(["containers", "env", "limits", "templates", "tasks"]), entries))
def test_an_object_with_few_commas_and_brackets_is_within_all_limits(fields: dict[str, Any]) -> None:
    value: Any = {"kind": "Pod", "spec": fields}

    assert identity.excess(value) == identity._counted(value)


@given(fields=st.dictionaries(st.sampled_from(["containers", "env", "limits", "templates", "tasks"]), entries))
def test_an_object_in_a_review_with_few_commas_and_brackets_is_within_all_limits(fields: dict[str, Any]) -> None:
    value: Any = {"kind": "Pod", "spec": fields}

    review = admission_review.parse(body(value))

    assert review.small is None or identity._counted(review.value or {}) is None


def test_a_usual_object_in_a_review_is_known_to_be_within_all_limits() -> None:
    review = admission_review.parse(body(pod()))

    assert review.small is review.value


def test_a_usual_object_costs_one_look_at_each_of_its_lists() -> None:
    """Counted, not timed: twice the containers take about twice the calls of Python."""

    def calls(number: int) -> int:
        request = body(with_containers(number))
        scripted = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result()))
        count = 0

        def counted(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            validate(request, scripted)
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    one, two = calls(100), calls(200)
    assert two < 2.3 * one
