"""A decision about a Pod is remembered for Pods that are alike, and for no other.

Every answer is compared with that of an evaluator that was asked nothing before.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import builders
import engines
import generated_examples
from unit.policy import alike_pods
from unit.policy.alike_pods import worker
from unit.policy.mutation import generated
from usher import model, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models, selection
from usher.config.fabrics import RESERVED_VARIABLES
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.environment import READ_VARIABLES
from usher.policy.checks import catalogue
from usher.policy.decision import Operation, Request, User
from usher.policy.engines.engine import ALL_CHECKS, CachedEngine, Engine, Entrypoint
from usher.policy.engines.wasm import WasmEngine
from usher.policy.evaluator import Evaluator
from usher.policy.input.pod_sets import READ_KEYS
from usher.workloads import fingerprints

POOLS = """
pools:
  - name: h100
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
    taints: [{key: nvidia.com/gpu, value: present}]
    resources: [nvidia.com/gpu]
    fabric: rails
fabrics:
  rails: {env: {NCCL_IB_HCA: "=mlx5_0", PET_NODE_RANK: "0"}}
"""
EXCEPTION = "namespaces: ['*'], owner: nlp, reason: until it is mended, ticket: T-1, expires: 2026-06-30"
CONFIGS = [
    models.Config.model_validate(yaml.safe_load(text) or {})
    for text in (
        "",
        POOLS,
        "exemptNamespaces: [research]",
        "enforcement: {preset: strict}",
        f"enforcement: {{exceptions: [{{checks: [usage-unknown], names: [bert-0], {EXCEPTION}}}]}}",
        "enforcement: {rules: [{check: '*', action: warn, places: [admission]}]}",
        "enforcement: {rules: [{check: '*', action: 'off', places: [check]}, {check: isolation, action: 'off'}]}",
        "mutations: {optOuts: [{namespaces: [research], mutations: ['*']}]}",
        "quotas: [{name: small, namespaces: [queued], limits: [{hard: {gpus: 1}}]}]",
    )
]
USERS = st.sampled_from(
    [
        None,
        User(name="alice"),
        User(name="alice", groups=("system:masters",)),
        User(name="system:kube-scheduler"),
        User(name="system:serviceaccount:kube-system:job-controller"),
    ]
)
NAMESPACES = st.sampled_from(["", "research", "queued", "kube-system"])
PLACES = st.sampled_from(["admission", "check", "audit"])
PODS = st.sampled_from([worker(0), worker(1)]) | generated.pods(gpus=st.sampled_from([0, 1, 8, "8", "x"]), garbage=True)
SETTINGS = settings(
    deadline=None,
    max_examples=generated_examples.up_to(50),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TOKEN = re.compile(rb"kube-api-access-[a-z0-9]{5}")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = CachedEngine(WasmEngine(catalogue.load().module))
    yield made
    made.close()


ENTRIES = catalogue.load().catalogue
DAYS = st.sampled_from([date(2026, 6, 30), date(2026, 7, 1)])


def evaluator(engine: Engine, *, config: models.Config = CONFIGS[0], facts: Store | None = None) -> Evaluator:
    return Evaluator(engine=engine, entries=ENTRIES, config=config, facts=facts, today=lambda: date(2026, 6, 30))


def answers(asked: Evaluator, request: Request, *, fresh: bool = False) -> tuple[object, ...]:
    """The decision and the patch, without what rules do not see of the workload."""
    decision = asked.decide(request)
    merged = replace(asked.mutate(request), value={}) if fresh else asked.patch(request)
    merged = replace(
        merged, skipped=tuple(each for each in merged.skipped if not each.off)
    )  # a patch does not name them
    workload = decision.workload
    seen = None if workload is None else TOKEN.sub(b"", asked.documents.build(workload))
    identity = None if workload is None else (workload.name, workload.owner, workload.exists, workload.totals)
    return replace(decision, workload=None), seen, identity, merged


class Counting:
    """An engine that counts what it evaluates."""

    name = "counting"
    waits = False

    def __init__(self, engine: Engine) -> None:
        self.asked: list[Entrypoint] = []
        self._engine = engine

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        self.asked.append(entrypoint)
        return self._engine.evaluate(entrypoint, document, left_out)

    def ready(self) -> None:
        self._engine.ready()

    def close(self) -> None:
        """It belongs to others."""


# What is shared


def test_after_two_pods_of_a_job_the_others_are_answered_from_memory(engine: Engine) -> None:
    counting = Counting(engine)
    asked = evaluator(counting, config=CONFIGS[1], facts=alike_pods.everything())

    for number in range(5):
        request = Request(value=worker(number), user=User(name="alice"))
        decision = asked.decide(request)
        asked.patch(request)
        assert decision.workload is not None
        assert decision.workload.name == f"bert-{number}"

    assert counting.asked == [Entrypoint.FINDINGS, Entrypoint.INTENTS] * 2


def test_both_webhooks_share_the_reading_of_a_pod(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[paths.Object]()
    normalised = Knowledge.workload

    def workload(known: Knowledge, value: paths.Object, **options: Any) -> model.Workload | None:
        read.append(value)
        return normalised(known, value, **options)

    monkeypatch.setattr(Knowledge, "workload", workload)
    asked = evaluator(engine, facts=Store())

    for image in range(3):
        first, second = (
            builders.replaced(worker(each), "/spec/containers/1/image", f"proxy:{image}") for each in (0, 7)
        )
        asked.patch(Request(value=first))
        found = asked.decide(Request(value=second)).workload
        assert found is not None
        assert (found.name, found.pod_sets[0].containers[1].image) == ("bert-7", f"proxy:{image}")

    assert len(read) == 3


def test_an_exception_by_name_covers_the_pods_of_that_name_alone(engine: Engine) -> None:
    variables: paths.Json = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
    pods = [builders.replaced(worker(number), "/spec/containers/0/env", variables) for number in range(2)]
    found = evaluator(engine).decide(Request(value=pods[0])).judgements
    denied = next(each for each in found if each.outcome is model.Outcome.DENY)
    exception = yaml.safe_load(f"{{checks: [{denied.name}], names: [bert-0], {EXCEPTION}}}")
    asked = evaluator(engine, config=models.Config.model_validate({"enforcement": {"exceptions": [exception]}}))

    def outcomes(number: int) -> set[model.Outcome]:
        found = asked.decide(Request(value=pods[number])).judgements
        return {each.outcome for each in found if each.name == denied.name}

    assert [outcomes(number) for number in (0, 1, 0, 1)] == [{model.Outcome.AUDIT}, {model.Outcome.DENY}] * 2
    asked.today = lambda: date(2026, 7, 1)
    assert outcomes(0) == {model.Outcome.DENY}


def test_the_age_of_the_facts_is_looked_at_for_every_pod(engine: Engine) -> None:
    facts = alike_pods.everything()
    facts.put(alike_pods.limit_range(1))
    asked = evaluator(engine, facts=facts)

    def reasons() -> set[str]:
        found = asked.decide(Request(value=worker())).judgements
        return {each.because for each in found if each.because.startswith("cluster facts")}

    assert [reasons(), reasons()] == [set(), set()]
    facts.age = lambda: 3600.0
    assert reasons() == {"cluster facts are 1 hour old"}
    facts.age = lambda: 0.0
    assert reasons() == set()


def test_the_use_of_a_quota_is_looked_at_for_every_pod(engine: Engine) -> None:
    """The quota controller writes it with every pod that starts, without a new revision of the facts."""
    facts = alike_pods.everything()
    counting = Counting(engine)
    asked = evaluator(counting, facts=facts)

    def evaluations(used: int) -> int:
        facts.put(alike_pods.quota(used))
        asked.decide(Request(value=worker()))
        return len(counting.asked)

    assert [evaluations(used) for used in (0, 0, 1, 8, 31, 32, 1, 8)] == [1, 2, 2, 2, 3, 4, 5, 5]


# What is not remembered


def test_rules_see_no_label_and_no_variable_that_fingerprints_leave_out() -> None:
    assert not [name for name in fingerprints.NUMBERS if name.startswith(READ_KEYS)]
    assert not [name for name in fingerprints.RANKS if name.startswith(READ_VARIABLES)]
    assert {"RANK", "NODE_RANK", "JOB_COMPLETION_INDEX"} <= fingerprints.RANKS & RESERVED_VARIABLES.keys()


@pytest.mark.parametrize(
    "request_",
    [
        Request(value=worker(), operation=Operation.UPDATE, old_value=worker()),
        Request(value=worker(), operation=Operation.DELETE),
        Request(value=worker(), sub_resource="eviction"),
        Request(value=worker(), facts=Store.of([alike_pods.quota(0)])),
        Request(value=worker(), objects=reading_values.Objects([])),
        Request(value=builders.replaced(worker(), "/spec/resourceClaims", [{"name": "gpu"}])),
        Request(value=builders.replaced(worker(), "/spec/schedulingGroup", {"podGroupName": "gang"})),
        Request(value=builders.replaced(worker(), "/spec/hostname", "\ud800")),
        Request(value=builders.replaced(worker(), "/spec/hostname", 2**70)),
        Request(value=builders.replaced(worker(), "/spec/hostname", "x" * fingerprints.LARGEST)),
        Request(value=builders.replaced(worker(), "/metadata/name", 7)),
        Request(value=builders.replaced(worker(), "/metadata", "x")),
        Request(value=builders.replaced(worker(), "/kind", "Job")),
    ],
)
def test_other_requests_are_not_remembered(request_: Request) -> None:
    asked = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result()))
    asked.decide(Request(value=worker()))

    assert asked._key(request_) is None


def test_a_quota_refusal_is_not_remembered() -> None:
    asked = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result()))
    quota = definitions.of_object(builders.gpu_quota(gpus=1))
    assert isinstance(quota, Quota)
    refusal = QuotaRefusal(quota=quota, excesses=())

    assert asked._key(Request(value=worker(), refusal=refusal)) is None


def test_an_error_is_not_remembered() -> None:
    answers_: list[paths.Object] = [{}, engines.result(), engines.result()]
    asked = engines.evaluator(engines.ScriptedEngine(lambda _: answers_.pop(0)))

    with pytest.raises(Exception, match="list of findings"):
        asked.decide(Request(value=worker()))

    assert asked.decide(Request(value=worker())).allowed


# What is told apart


@SETTINGS
@given(data=st.data())
def test_pods_that_differ_in_any_field_share_no_answer(engine: Engine, data: st.DataObject) -> None:
    config = data.draw(st.sampled_from(CONFIGS))
    base = data.draw(PODS)
    asked = evaluator(engine, config=config, facts=alike_pods.everything())
    for value in (base, base, data.draw(alike_pods.changed(base)), data.draw(alike_pods.changed(base)), base):
        request = Request(value=value, namespace="research")
        fresh = evaluator(engine, config=config, facts=alike_pods.everything())
        assert answers(asked, request) == answers(fresh, request, fresh=True)


@SETTINGS
@given(
    config=st.sampled_from(CONFIGS),
    value=PODS,
    asked=st.lists(st.tuples(NAMESPACES, USERS, PLACES), min_size=2, max_size=5),
)
def test_users_namespaces_and_places_that_differ_share_no_answer(
    engine: Engine, config: models.Config, value: paths.Object, asked: list[tuple[str, User | None, selection.Place]]
) -> None:
    facts = alike_pods.everything()
    value = alike_pods.without(value, "/metadata/namespace")
    one = evaluator(engine, config=config, facts=facts)
    for namespace, user, place in [*asked, *asked, *asked]:
        request = Request(value=value, namespace=namespace, user=user, place=place)
        fresh = evaluator(engine, config=config, facts=facts)
        assert answers(one, request) == answers(fresh, request, fresh=True)


@SETTINGS
@given(
    config=st.sampled_from(CONFIGS),
    values=st.lists(PODS, min_size=1, max_size=3),
    steps=st.lists(
        st.tuples(st.sampled_from(alike_pods.CHANGES), st.integers(0, 2), st.sampled_from([0.0, 3600.0]), DAYS),
        max_size=12,
    ),
    known=st.booleans(),
)
def test_a_cluster_and_a_day_that_change_share_no_answer(
    engine: Engine,
    config: models.Config,
    values: list[paths.Object],
    steps: list[tuple[Callable[[Store], None], int, float, date]],
    known: bool,
) -> None:
    """Whatever was asked before, and whatever has changed in the cluster since."""
    facts = alike_pods.everything() if known else Store()
    asked = evaluator(engine, config=config, facts=facts)
    for change, index, age, day in steps:
        change(facts)
        facts.age = partial(float, age)
        request = Request(value=values[index % len(values)], namespace="research")
        fresh = evaluator(engine, config=config, facts=facts)
        asked.today = fresh.today = partial(date.fromordinal, day.toordinal())
        expected = answers(fresh, request, fresh=True)
        assert [answers(asked, request) for _ in range(3)] == [expected] * 3


@SETTINGS
@given(config=st.sampled_from(CONFIGS), value=PODS, other=PODS, user=USERS)
def test_a_pod_that_missed_its_mutations_is_judged_again_as_by_a_fresh_evaluator(
    engine: Engine, config: models.Config, value: paths.Object, other: paths.Object, user: User | None
) -> None:
    facts = alike_pods.everything()
    one = evaluator(engine, config=config, facts=facts)
    for each in (value, other, value, other, value):
        request = Request(value=each, namespace="research", user=user)
        fresh = evaluator(engine, config=config, facts=facts)
        (merged, decision), (expected, judged) = one.admit(request), fresh.admit(request)
        assert merged == expected
        assert replace(decision, workload=None) == replace(judged, workload=None)


def test_a_pod_that_its_controller_makes_again_is_judged_without_mutations_from_memory(engine: Engine) -> None:
    counting = Counting(engine)
    asked = evaluator(counting, config=CONFIGS[1])

    def evaluations(number: int) -> int:
        merged, _ = asked.admit(Request(value=worker(number)))
        assert paths.metadata(merged.value)["name"] == f"bert-{number}"
        return len(counting.asked)

    assert [evaluations(number) for number in range(4)] == [2, 4, 4, 4]
