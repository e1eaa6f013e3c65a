"""Everything together: replicas with watches that lag, one API server, clients that create, change and delete.

Accounts are in one object or in many parts; writes fail half-way; one replica is of the version before parts.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import builders
import generated_examples
from unit.authorities.gpu_quota.live.earlier_replica import EarlierReplica
from unit.authorities.gpu_quota.live.memory_api import MemoryApi, Replica, charges, gpu_quota, job, owned, read_account
from usher import errors, paths
from usher.authorities.gpu_quota import entries
from usher.authorities.gpu_quota.live import account_store
from usher.cluster.api import Answer

HARD: Final = 10
RESERVATION: Final = 71
LONGEST_REQUEST: Final = 60

NAMES = st.sampled_from(["a", "b"])
SIZES = st.integers(1, 7)
KINDS = st.sampled_from([("GPUQuota",), ("GPUQuota",), ("Job",), ("Pod",), ()])
"""Each kind has a watch of its own; no kind stands for all."""


OLD_STATUS: Final[paths.Object] = {
    "version": 1,
    "used": [{"gpus": 3}],
    "charges": [{"object": "Job.batch/ml/long-gone", "amounts": {"gpus": 3}}],
}
"""Written by a version that knows no parts."""


def is_counting(api: MemoryApi) -> bool:
    """Whether the account must be counted before it can be charged."""
    return read_account(api).counting


@contextlib.contextmanager
def killed_at(api: MemoryApi, nth: int, *, written: bool) -> Iterator[Callable[[], bool]]:
    """From this write on, no answer comes back; the first of these writes may be made all the same."""
    writes = 0

    def trouble(method: str, path: str) -> Answer | None:
        nonlocal writes
        writes += method in ("PUT", "POST")
        if writes < nth:
            return None
        if writes == nth and written and method in ("PUT", "POST"):
            api.trouble = no_trouble
            value = api.sent
            api.put(path, value) if method == "PUT" else api.post(path, value)
            api.trouble = trouble
        raise errors.ClusterError("the replica was killed")

    def no_trouble(_method: str, _path: str) -> Answer | None:
        return None

    api.trouble = trouble
    try:
        yield lambda: writes >= nth
    finally:
        api.trouble = no_trouble


class Cluster(RuleBasedStateMachine):
    @initialize(
        replicas=st.integers(2, 3),
        everybody_asks=st.sampled_from([True, True, False]),
        most_changes=st.sampled_from([0, 1, 2, 256]),
        earlier=st.booleans(),
    )
    def begin(self, replicas: int, everybody_asks: bool, most_changes: int, earlier: bool) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(entries, "MOST_CHANGES", most_changes)
        self.patch.setattr(entries, "MOST_BYTES", 1)
        self.patch.setattr(account_store, "UPGRADE", 100)
        self.now = 1_000_000.0
        self.everybody_asks = everybody_asks
        self.forced = False
        self.api = MemoryApi()
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
        self.api.apply(gpu_quota(hard={"gpus": HARD}, status=OLD_STATUS if earlier else None))
        self.earlier = EarlierReplica(self.api, clock=lambda: self.now)
        self.replicas = [Replica(self.api, clock=lambda: self.now) for _ in range(replicas)]
        for replica in self.replicas:
            replica.watch()
        self.jobs: dict[str, int] = {}
        """Stored jobs, with the GPUs of each."""
        self.uids: dict[str, str] = {}
        """The uids of the stored jobs."""
        self.pods: dict[str, str] = {}
        """Stored pods of one GPU each, with the uid of the job of each."""
        self.left: dict[str, str] = {}
        """Names of the jobs that are deleted and have pods left, by uid."""
        self.unheard: set[str] = set()
        """Pods that a replica that started since has never heard of."""
        self.charged_twice = False
        """Whether such a replica may charge pods that another one charges under the name of their job."""
        self.in_flight: dict[str, tuple[int, float]] = {}
        """Jobs that were let in and are not stored yet: GPUs, and when that was."""
        self.number = 0

    def replica(self, number: int) -> Replica:
        return self.replicas[number % len(self.replicas)]

    @rule(
        name=NAMES,
        size=SIZES,
        number=st.integers(0, 2),
        forced=st.sampled_from([False, False, False, True]),
        at_once=st.sampled_from([True, True, False]),
    )
    def ask(self, name: str, size: int, number: int, forced: bool, at_once: bool) -> None:
        """A client creates a job, or changes it."""
        if name in self.in_flight or self.left.keys() & self.unheard or size < len(self.pods_of(name)):
            return
        forced = forced and not self.everybody_asks
        new, old = job(1, pods=size, name=name), None
        if name in self.jobs:
            new, old = (
                builders.replaced(each, "/metadata/uid", self.uids[name])
                for each in (new, job(1, pods=self.jobs[name], name=name))
            )
        if self.let_in(self.replica(number), new, old=old, force=forced):
            self.forced |= forced
            self.in_flight[name] = size, self.now
            if at_once:
                self.store(name, fails=False)

    def let_in(self, replica: Replica, value: paths.Object, **asked: Any) -> bool:
        try:
            return replica.ask(value, **asked) is None
        except errors.CountingError:
            assert is_counting(self.api)
            return False

    @precondition(lambda self: not self.in_flight)
    @rule(number=st.integers(0, 20))
    def lose_a_part(self, number: int) -> None:
        """Somebody removes the namespace of accounts while nothing is asked.

        Replicas remember parts, so the one that starts next finds the loss.
        """
        parts = sorted(place for place in self.api.objects if place[1] == "configmaps")
        if parts:
            self.api.remove(self.api.objects[parts[number % len(parts)]])
            self.start_again(self.replica(number))

    @rule(name=NAMES, size=SIZES)
    def ask_an_earlier_replica(self, name: str, size: int) -> None:
        """A rolling upgrade is under way. Where that version cannot read the account, it lets nothing in."""
        if name in self.in_flight or name in self.jobs or name in self.left.values():
            return
        if self.earlier.ask(name, size):
            self.in_flight[name] = size, self.now

    @rule(name=NAMES, size=SIZES, number=st.integers(0, 2), nth=st.integers(1, 4), written=st.booleans())
    def end_half_way(self, name: str, size: int, number: int, nth: int, written: bool) -> None:
        """A replica is killed at one of its writes, which the API server may have made all the same."""
        if name in self.in_flight or name in self.jobs or name in self.left.values():
            return
        replica = self.replica(number)
        with killed_at(self.api, nth, written=written) as killed:
            try:
                let_in = replica.ask(job(1, pods=size, name=name), killed=True) is None
            except errors.ClusterError:
                let_in = False
        if let_in:
            self.in_flight[name] = size, self.now
        if killed():
            self.start_again(replica)

    def start_again(self, replica: Replica) -> None:
        self.unheard |= set(self.left)
        self.charged_twice |= bool(self.left)
        fresh = Replica(self.api, clock=lambda: self.now)
        fresh.watch()
        self.replicas[self.replicas.index(replica)] = fresh
        replica.close()

    @rule(number=st.integers(0, 2))
    def delete_unused_parts(self, number: int) -> None:
        self.replica(number).unused.delete()

    @rule(name=NAMES, fails=st.sampled_from([False, False, True]))
    def store(self, name: str, fails: bool) -> None:
        """The API server stores what was let in, or somebody else refuses it."""
        size, _ = self.in_flight.pop(name, (0, 0.0))
        if size and not fails and size >= len(self.pods_of(name)):
            self.stored(name, size)

    def stored(self, name: str, size: int) -> None:
        metadata: Any = self.api.apply(job(1, pods=size, name=name))["metadata"]
        self.jobs[name], self.uids[name] = size, metadata["uid"]

    @precondition(lambda self: not self.everybody_asks)
    @rule(name=NAMES, size=SIZES)
    def store_unasked(self, name: str, size: int) -> None:
        if name not in self.in_flight and size >= len(self.pods_of(name)):
            self.forced = True
            self.stored(name, size)

    @rule(name=NAMES, number=st.integers(0, 2), most=SIZES)
    def make_pods(self, name: str, number: int, most: int) -> None:
        """The controller of a job makes pods, of which every replica hears before the job changes."""
        if name not in self.jobs or name in self.in_flight:
            return
        above = self.api.objects["/apis/batch/v1", "jobs", "ml", name]
        for _ in range(min(most, self.jobs[name] - len(self.pods_of(name)))):
            self.number += 1
            pod = builders.pod(builders.container(gpus=1), name=f"pod-{self.number}", namespace="ml")
            made: paths.Object = {**owned(pod, above), "status": {"phase": "Running"}}
            if self.let_in(self.replica(number), made):
                self.api.apply(made)
                self.pods[f"pod-{self.number}"] = self.uids[name]
        for replica in self.replicas:
            replica.watch()

    @rule(name=NAMES, leaves_pods=st.booleans())
    def delete(self, name: str, leaves_pods: bool) -> None:
        if name not in self.jobs or name in self.in_flight:
            return
        pods, uid = self.pods_of(name), self.uids.pop(name)
        del self.jobs[name]
        self.api.remove(job(1, pods=1, name=name))
        self.left[uid] = name
        if not (leaves_pods and pods):
            self.end_pods(name)

    @rule(name=NAMES, number=st.integers(0, 2))
    def make_anew(self, name: str, number: int) -> None:
        """Somebody deletes a job whose pods are slow to end, and creates it again at once."""
        if name in self.jobs and name not in self.in_flight:
            size = self.jobs[name]
            self.make_pods(name, number, most=size)
            self.delete(name, leaves_pods=True)
            self.ask(name, size, number, forced=False, at_once=True)

    @rule(name=NAMES)
    def end_pods(self, name: str) -> None:
        """The pods of all jobs of a name that are deleted come to their end."""
        ended = {uid for uid, of in self.left.items() if of == name}
        for pod in [pod for pod, uid in self.pods.items() if uid in ended]:
            self.api.remove(builders.pod(name=pod, namespace="ml"))
            del self.pods[pod]
        self.left = {uid: of for uid, of in self.left.items() if uid not in ended}

    @rule(number=st.integers(0, 2), kinds=KINDS, seconds=st.sampled_from([0, 1, 61, 80]))
    def reconcile(self, number: int, kinds: tuple[str, ...], seconds: int) -> None:
        """A replica that has heard of some kinds and not of others looks at the ledger, perhaps much later."""
        # What is counted was listed just before.
        self.replica(number).watch(*(() if is_counting(self.api) else kinds))
        self.wait(seconds)
        self.replica(number).reconciler.reconcile()

    @rule(number=st.integers(0, 2))
    def restart(self, number: int) -> None:
        self.unheard |= set(self.left)
        self.charged_twice |= bool(self.left)
        self.replica(number).restart()

    def wait(self, seconds: int) -> None:
        """Nothing stays on its way for longer than the API server waits for a request."""
        self.now += seconds
        self.in_flight = {
            name: (size, since) for name, (size, since) in self.in_flight.items() if self.now - since < LONGEST_REQUEST
        }

    @rule()
    def come_to_rest(self) -> None:
        """Existing objects are charged exactly."""
        self.wait(RESERVATION)
        for _ in range(3):
            for replica in self.replicas:
                replica.watch()
                replica.reconciler.reconcile()
        assert sum(charges(self.api).values()) == self.held(), charges(self.api)

    def teardown(self) -> None:
        if not hasattr(self, "api"):
            return
        try:
            self.nothing_is_used_in_the_end()
            self.parts_are_named()
        finally:
            self.patch.undo()
            for replica in self.replicas:
                replica.close()

    def nothing_is_used_in_the_end(self) -> None:
        """When everything is deleted, nothing is used."""
        for name in list(self.jobs):
            self.in_flight.pop(name, None)
            self.delete(name, leaves_pods=False)
        for name in set(self.left.values()):
            self.end_pods(name)
        self.in_flight.clear()
        self.come_to_rest()
        found: Any = self.api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", "research"]
        status = found.get("status", {})
        assert status.get("charges", []) == []
        assert status.get("used") == [{"gpus": 0}]
        assert "counting" not in status

    def parts_are_named(self) -> None:
        """No part stays that the account does not name, once something else was written."""
        self.now += RESERVATION
        assert self.replicas[0].ask(job(1, pods=1, name="last")) is None
        self.replicas[0].unused.delete()
        found: Any = self.api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", "research"]
        named = {each["name"] for each in found["status"].get("parts", [])}
        assert {name for _, plural, _, name in self.api.objects if plural == "configmaps"} == named

    @invariant()
    def never_too_much(self) -> None:
        if hasattr(self, "api") and not self.forced:
            assert self.held() <= HARD
            assert self.charged_twice or sum(charges(self.api).values()) <= HARD

    @invariant()
    def never_uncharged(self) -> None:
        """Whoever asked has what was given, and whoever is let in will have it."""
        if hasattr(self, "api") and self.everybody_asks and not is_counting(self.api):
            charged = charges(self.api)
            for name, size in self.jobs.items():
                assert charged.get(f"Job.batch/ml/{name}", 0) >= size
            for name, (size, _) in self.in_flight.items():
                assert charged.get(f"Job.batch/ml/{name}", 0) >= size
            assert sum(charged.values()) >= self.held()

    def pods_of(self, job_name: str) -> list[str]:
        return [pod for pod, uid in self.pods.items() if uid == self.uids.get(job_name)]

    def held(self) -> int:
        return sum(self.jobs.values()) + sum(uid in self.left for uid in self.pods.values())


TestCluster = Cluster.TestCase
TestCluster.settings = hypothesis.settings(
    max_examples=generated_examples.up_to(30), stateful_step_count=30, deadline=None
)
