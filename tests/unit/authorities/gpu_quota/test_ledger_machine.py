"""A quota under concurrency: replicas charge, watch and settle in any order, with compare-and-swap on one object."""

import operator
from dataclasses import dataclass
from typing import Final

import orjson
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

import generated_examples
from usher.authorities.gpu_quota import ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.definitions import Limit
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Granted, Holding, Ledger
from usher.quantities import NANO

HARD: Final = 10
HIGH: Final = 4
INSTANCES: Final = 3
LIMITS: Final = (
    Limit(hard={"gpus": HARD * NANO}),
    Limit(hard={"gpus": HIGH * NANO, "profiles.1g.10gb": INSTANCES * NANO}, classes=("high",)),
)
RESERVED: Final = 60

Size = tuple[int, int, int]
"""GPUs of no class, GPUs of class high, instances of class high."""

NOTHING: Final[Size] = (0, 0, 0)

NAMES = st.sampled_from(["a", "b"])
SIZES = st.tuples(st.integers(0, 7), st.integers(0, 3), st.integers(0, 2))


def charge_of(size: Size) -> ByClasses:
    normal, high, instances = size
    return {
        ("",): {"gpus": normal * NANO, "slices": 7 * normal * NANO},
        ("high",): {"gpus": high * NANO, "profiles.1g.10gb": instances * NANO},
    }


def entry_of(name: str, size: Size, *, until: int) -> Entry:
    return Entry(group="batch", kind="Job", namespace="ml", name=name, amounts=charge_of(size), reserved_until=until)


@dataclass(frozen=True)
class Request:
    """A replica that has read the object and not written it yet."""

    version: int
    seen: Ledger
    name: str
    size: Size
    forced: bool


@dataclass(frozen=True)
class Admitted:
    """A workload that was let in and is not stored yet."""

    name: str
    size: Size
    until: int


class Quota(RuleBasedStateMachine):
    requests = Bundle("requests")
    admitted = Bundle("admitted")
    decided = Bundle("decided")

    @initialize(everybody_asks=st.sampled_from([True, True, False]))
    def begin(self, everybody_asks: bool) -> None:
        self.everybody_asks = everybody_asks
        self.version = 0
        self.stored = orjson.dumps({})
        self.now = 1000
        self.exists: dict[str, Size] = {}
        self.in_flight: list[Admitted] = []
        self.unasked = False
        """Whether anything was charged by force, or came to be without being asked about."""

    def read(self) -> Ledger:
        decoded = gpu_quota_status.decode(orjson.loads(self.stored))
        assert decoded.problems == ()
        return decoded.ledger

    def write(self, made: Ledger) -> None:
        self.version += 1
        self.stored = orjson.dumps(gpu_quota_status.encode(made, LIMITS))

    @rule(target=requests, name=NAMES, size=SIZES, forced=st.sampled_from([False, False, False, False, True]))
    def ask(self, name: str, size: Size, forced: bool) -> Request:
        forced = forced and not self.everybody_asks
        return Request(version=self.version, seen=self.read(), name=name, size=size, forced=forced)

    @rule(target=admitted, request=consumes(requests))
    def answer(self, request: Request) -> object:
        # Who was too slow reads again; who was not writes what follows from what was read.
        seen = request.seen if request.version == self.version else self.read()
        entry = entry_of(request.name, request.size, until=self.now + RESERVED)
        outcome = ledger.force(seen, entry, LIMITS) if request.forced else ledger.charge(seen, entry, LIMITS)
        if not isinstance(outcome, Granted):
            assert isinstance(outcome, ledger.Refused)
            assert outcome.excesses
            assert all(excess.added > excess.free for excess in outcome.excesses)
            return multiple()
        self.unasked |= request.forced
        self.write(outcome.ledger)
        again = ledger.charge(self.read(), entry, LIMITS)
        assert isinstance(again, Granted)
        assert charges_of(again.ledger) == charges_of(self.read()), "the same request twice is charged once"
        let_in = Admitted(name=request.name, size=request.size, until=self.now + RESERVED)
        self.in_flight.append(let_in)
        return let_in

    @rule(let_in=consumes(admitted), fails=st.sampled_from([False, False, True]))
    def store(self, let_in: Admitted, fails: bool) -> None:
        """The API server stores what was let in, or something else refuses it; either is over before a reservation."""
        if let_in in self.in_flight:
            self.in_flight.remove(let_in)
            if not fails:
                self.exists[let_in.name] = let_in.size

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.exists.pop(name, None)

    @precondition(lambda self: not self.everybody_asks)
    @rule(name=NAMES, size=SIZES)
    def come_to_be_while_nobody_is_asked(self, name: str, size: Size) -> None:
        self.unasked = True
        self.exists[name] = size

    @rule(seconds=st.integers(1, RESERVED + 10))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        self.in_flight = [let_in for let_in in self.in_flight if let_in.until > self.now]

    @rule(target=decided, behind=st.sets(NAMES))
    def decide(self, behind: set[str]) -> object:
        """A replica decides by what it has seen, which may lack what has come to be lately."""
        seen = [self.holding(name) for name in self.exists if name not in behind]
        return multiple(*ledger.plan_actions(self.read(), seen, LIMITS, self.now))

    @rule(action=consumes(decided))
    def act(self, action: ledger.Action) -> None:
        """A live read confirms each decrease; between the two everything may happen to others."""
        size = self.exists.get(action.entry.name)
        match action:
            case ledger.Release() if size is not None:
                return
            case ledger.Settle(lowers=True) if charge_text(size) != charge_text(action.amounts):
                return
            case ledger.Adopt():
                self.unasked = True
        self.write(ledger.apply_action(self.read(), action, LIMITS))

    def holding(self, name: str) -> Holding:
        return Holding(
            uid=f"uid-{name}",
            group="batch",
            kind="Job",
            namespace="ml",
            name=name,
            charge=charge_of(self.exists[name]),
        )

    @invariant()
    def used_is_the_sum_of_all_entries(self) -> None:
        if not hasattr(self, "stored"):
            return
        value = orjson.loads(self.stored)
        charges = value.get("charges", [])
        names = [charge["object"] for charge in charges]
        assert len(names) == len(set(names)), "nobody is charged under two entries"
        normal = sum(charge.get("amounts", {}).get("gpus", 0) for charge in charges)
        high = [charge.get("classes", {}).get("high", {}) for charge in charges]
        of_high = {unit: sum(each.get(unit, 0) for each in high) for unit in ("gpus", "profiles.1g.10gb")}
        if charges:
            assert value["used"] == [{"gpus": normal + of_high["gpus"]}, of_high]
        if not self.unasked:
            assert normal + of_high["gpus"] <= HARD
            assert of_high["gpus"] <= HIGH
            assert of_high["profiles.1g.10gb"] <= INSTANCES

    @invariant()
    def nothing_that_was_asked_about_exists_without_being_charged(self) -> None:
        if not hasattr(self, "stored") or self.unasked:
            return
        together = [sum(sizes) for sizes in zip(*self.exists.values(), strict=True)] or list(NOTHING)
        assert together[0] + together[1] <= HARD
        assert together[1] <= HIGH
        assert together[2] <= INSTANCES
        charged = self.read()
        for name, size in self.exists.items():
            if size != NOTHING:
                entry = charged.entries[f"Job.batch/ml/{name}"]
                for classes, of_units in ledger.relevant_amounts(charge_of(size), LIMITS).items():
                    of_entry = entry.amounts[classes]
                    assert all(map(operator.le, of_units.values(), (of_entry.get(unit, 0) for unit in of_units)))

    def teardown(self) -> None:
        if not hasattr(self, "stored"):
            return
        self.now += RESERVED + 1
        self.settle_all()
        assert {name: entry.amounts for name, entry in self.read().entries.items()} == {
            f"Job.batch/ml/{name}": ledger.relevant_amounts(charge_of(size), LIMITS)
            for name, size in self.exists.items()
            if size != NOTHING
        }
        self.exists = {}
        self.settle_all()
        assert ledger.used(self.read()) == {}
        assert self.read() == ledger.EMPTY

    def settle_all(self) -> None:
        made = self.read()
        for action in ledger.plan_actions(made, map(self.holding, self.exists), LIMITS, self.now):
            made = ledger.apply_action(made, action, LIMITS)
        self.write(made)


def charges_of(charged: Ledger) -> dict[str, ByClasses]:
    return {name: entry.amounts for name, entry in charged.entries.items()}


def charge_text(charged: Size | ByClasses | None) -> object:
    if isinstance(charged, tuple):
        charged = charge_of(charged)
    return None if charged is None else ledger.relevant_amounts(charged, LIMITS)


Quota.TestCase.settings = settings(max_examples=generated_examples.up_to(120), stateful_step_count=50, deadline=None)
TestQuota = Quota.TestCase


@pytest.mark.parametrize("asked_before", [True, False], ids=["before the first is stored", "after it is settled"])
def test_a_creation_that_is_stored_after_its_namesake_was_deleted_is_charged(*, asked_before: bool) -> None:
    """Two creations of one name are allowed; the second is stored when the first has come and gone."""
    quota = Quota()
    quota.begin(everybody_asks=True)

    def allowed(size: Size) -> Admitted:
        admitted = quota.answer(quota.ask(name="a", size=size, forced=False))
        assert isinstance(admitted, Admitted)
        return admitted

    def replica_looks() -> None:
        for action in ledger.plan_actions(quota.read(), map(quota.holding, quota.exists), LIMITS, quota.now):
            quota.act(action)

    slow = allowed((3, 0, 0)) if asked_before else None
    quota.store(allowed((5, 0, 0)), fails=False)
    if slow is None:
        slow = allowed((3, 0, 0))
    replica_looks()
    quota.delete("a")
    replica_looks()
    quota.store(slow, fails=False)

    quota.nothing_that_was_asked_about_exists_without_being_charged()
