"""The ledger of a quota: how it charges, refuses, settles and releases."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from usher.authorities.gpu_quota import definitions, entries, ledger
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.definitions import Limit
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import EMPTY, Full, Granted, Ledger, Refused
from usher.quantities import NANO

LIMITS = (Limit(hard={"gpus": 100 * NANO}), Limit(hard={"gpus": 16 * NANO}, classes=("high",)))


def gpus(normal: int = 0, high: int = 0) -> ByClasses:
    return {("",): {"gpus": normal * NANO}, ("high",): {"gpus": high * NANO}}


def entry(name: str = "a", normal: int = 0, high: int = 0, *, until: int | None = 100, uid: str = "") -> Entry:
    return Entry(
        group="batch",
        kind="Job",
        namespace="ml",
        name=name,
        uid=uid,
        amounts=entries.tidy(gpus(normal, high)),
        reserved_until=until,
    )


def charged(*charges: Entry, onto: Ledger = EMPTY) -> Ledger:
    for each in charges:
        outcome = ledger.charge(onto, each, LIMITS)
        assert isinstance(outcome, Granted)
        onto = outcome.ledger
    return onto


def refused(found: Ledger, asked: Entry) -> list[tuple[int, str, int, int, int, int, bool]]:
    """The index of the limit, the unit, the amounts that are asked, used, hard and free, and whether it never fits."""
    outcome = ledger.charge(found, asked, LIMITS)
    assert isinstance(outcome, Refused)
    return [
        (
            LIMITS.index(each.limit),
            each.unit,
            each.asks // NANO,
            each.used // NANO,
            each.hard // NANO,
            each.free // NANO,
            each.never,
        )
        for each in outcome.excesses
    ]


def used(found: Ledger) -> list[int]:
    return [of_units["gpus"] // NANO for of_units in ledger.used_of(found, LIMITS)]


def test_what_fits_is_charged_to_every_limit_that_holds_for_its_classes() -> None:
    assert used(charged(entry("a", normal=8), entry("b", high=16))) == [24, 16]


def test_what_does_not_fit_now_is_refused_with_all_numbers() -> None:
    found = charged(entry("a", normal=96))

    assert refused(found, entry("b", normal=16)) == [(0, "gpus", 16, 96, 100, 4, False)]


def test_a_request_that_can_never_fit_is_marked() -> None:
    assert refused(EMPTY, entry("b", high=128)) == [
        (0, "gpus", 128, 0, 100, 100, True),
        (1, "gpus", 128, 0, 16, 16, True),
    ]


def test_the_same_request_twice_is_charged_once() -> None:
    found = charged(entry("a", normal=8))

    assert charged(entry("a", normal=8), onto=found).sums == found.sums


def test_only_the_difference_is_charged_when_a_workload_grows() -> None:
    found = charged(entry("a", normal=60), entry("b", normal=30))

    assert used(charged(entry("a", normal=70), onto=found)) == [100, 0]
    assert refused(found, entry("a", normal=71)) == [(0, "gpus", 71, 90, 100, 10, False)]


def test_a_workload_that_shrinks_keeps_what_it_had_until_it_is_settled() -> None:
    found = charged(entry("a", normal=60, until=50), entry("a", normal=10, until=90))
    assert used(found) == [60, 0]
    assert found.entries["Job.batch/ml/a"].reserved_until == 90

    settled = ledger.settle(found, "Job.batch/ml/a", gpus(10))

    assert used(settled) == [10, 0]
    assert settled.entries["Job.batch/ml/a"].reserved_until is None


def test_who_asks_for_no_more_is_let_in_however_full_the_quota_is() -> None:
    overfull = ledger.force(charged(entry("a", normal=60)), entry("b", normal=90), LIMITS)
    assert isinstance(overfull, Granted)

    assert isinstance(ledger.charge(overfull.ledger, entry("a", normal=60), LIMITS), Granted)
    assert isinstance(ledger.charge(overfull.ledger, entry("a", normal=20), LIMITS), Granted)
    assert isinstance(ledger.charge(overfull.ledger, entry("a", normal=61), LIMITS), Refused)


def test_force_charges_over_the_limit_and_says_so() -> None:
    outcome = ledger.force(EMPTY, entry("a", normal=128), LIMITS)

    assert isinstance(outcome, Granted)
    assert outcome.ledger.entries["Job.batch/ml/a"].forced
    assert used(outcome.ledger) == [128, 0]


def test_an_entry_without_amounts_takes_no_room() -> None:
    assert charged(entry("a")) == EMPTY
    assert ledger.settle(charged(entry("a", normal=8)), "Job.batch/ml/a", {}) == EMPTY


def test_a_release_gives_back_exactly_what_was_charged() -> None:
    found = charged(entry("a", normal=8), entry("b", high=3))

    assert ledger.release(ledger.release(found, "Job.batch/ml/a"), "Job.batch/ml/b") == EMPTY
    assert ledger.release(found, "Job.batch/ml/c") == found
    assert ledger.settle(found, "Job.batch/ml/c", gpus(5)) == found


def test_an_object_with_a_name_is_known_by_that_alone() -> None:
    """Who tries again to create it has another uid."""
    (kept,) = charged(entry("a", normal=8, uid="u-1")).entries.values()

    assert (kept.key, kept.uid) == ("Job.batch/ml/a", "")


def test_who_is_charged_by_uid_and_asks_again_under_its_name_is_charged_once() -> None:
    found = charged(entry("", normal=8, uid="u-1"), entry("made-x7k2p", normal=8, uid="u-1"))

    assert list(found.entries) == ["Job.batch/ml/made-x7k2p"]
    assert used(found) == [8, 0]


def test_only_units_and_classes_that_a_limit_looks_at_are_kept() -> None:
    of_all: ByClasses = {
        ("high", "other"): {"gpus": NANO, "slices": 7 * NANO},
        ("other",): {"gpus": 2 * NANO},
        ("",): {"gpus": 4 * NANO, "profiles.1g.10gb": NANO},
    }

    assert ledger.relevant_amounts(of_all, LIMITS) == {("",): {"gpus": 6 * NANO}, ("", "high"): {"gpus": NANO}}


def test_without_room_in_the_object_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    found = charged(entry("a", normal=8))
    monkeypatch.setattr(ledger, "MOST_BYTES", found.size)

    assert ledger.charge(found, entry("b", normal=1), LIMITS) == Full(entries=1)
    assert ledger.force(found, entry("b", normal=1), LIMITS) == Full(entries=1)
    monkeypatch.setattr(ledger, "MOST_BYTES", 1000)
    monkeypatch.setattr(ledger, "MOST_ENTRIES", 1)
    assert ledger.charge(found, entry("b", normal=1), LIMITS) == Full(entries=1)
    assert isinstance(ledger.charge(found, entry("a", normal=9), LIMITS), Granted)


# ---------------------------------------------------------------- as it stands in the object

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True)
UNITS = st.sampled_from(["gpus", "slices", "memoryGiB", "profiles.1g.10gb", "profiles.1g.10gb+me"])
BY_CLASSES = st.dictionaries(
    st.lists(st.sampled_from(["", "high", "low"]), min_size=1, max_size=2, unique=True).map(lambda x: tuple(sorted(x))),
    st.dictionaries(UNITS, st.integers(1, definitions.MOST_AMOUNT), min_size=1),
    max_size=3,
).map(entries.tidy)
ENTRIES = st.builds(
    Entry,
    group=st.sampled_from(["", "batch", "kubeflow.org"]),
    kind=st.sampled_from(["Pod", "Job"]),
    namespace=NAMES,
    name=NAMES,
    uid=st.sampled_from(["", "0b0ee2f6"]),
    amounts=BY_CLASSES,
    reserved_until=st.none() | st.integers(0, 2**40),
    forced=st.booleans(),
)


@given(st.lists(ENTRIES.filter(lambda each: bool(each.amounts)), max_size=6))
def test_a_written_ledger_is_read_back_unchanged(several: list[Entry]) -> None:
    found = {each.key: each for each in several}
    made = ledger.of_entries(found)

    decoded = gpu_quota_status.decode(orjson.loads(orjson.dumps(gpu_quota_status.encode(made, LIMITS))))

    assert decoded == gpu_quota_status.Decoded(ledger=made)


@given(st.lists(ENTRIES, max_size=5))
def test_the_size_of_a_ledger_is_that_of_its_json(several: list[Entry]) -> None:
    made = EMPTY
    for each in several:
        outcome = ledger.force(made, each, LIMITS)
        assert isinstance(outcome, Granted)
        made = outcome.ledger
        text = orjson.dumps(gpu_quota_status.encode(made, LIMITS)["charges"])
        assert made.size == (len(text) - 1 if made.entries else 0)


def test_a_status_is_compact_and_readable() -> None:
    made = charged(entry("llm", normal=16), replace(entry("b", high=3), amounts={("high",): {"gpus": 1500 * 10**6}}))

    assert gpu_quota_status.encode(made, LIMITS) == {
        "version": 1,
        "used": [{"gpus": "17500m"}, {"gpus": "1500m"}],
        "charges": [
            {"object": "Job.batch/ml/b", "classes": {"high": {"gpus": "1500m"}}, "until": 100},
            {"object": "Job.batch/ml/llm", "amounts": {"gpus": 16}, "until": 100},
        ],
    }


GOOD: dict[str, Any] = {"object": "Job.batch/ml/good", "amounts": {"gpus": 8}}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("text", "it is not an object"),
        ({"amounts": {"gpus": 8}}, "object is not written as Kind.group/namespace/name"),
        ({**GOOD, "object": "Job/ml"}, "object is not written as Kind.group/namespace/name"),
        ({**GOOD, "object": "Job.batch/ml/"}, "it has neither a name nor a uid"),
        ({**GOOD, "amount": 1}, "it has an unknown field 'amount'"),
        ({**GOOD, "amounts": {"gpu": 8}}, "'gpu' is not a unit of a quota"),
        ({**GOOD, "amounts": {"gpus": -8}}, "gpus: -8 is not an amount that can be charged"),
        (
            {**GOOD, "amounts": {"gpus": "x"}},
            "gpus: 'x' is not a quantity; write a number, for example 1, 500m or 16Gi",
        ),
        ({**GOOD, "classes": 8}, "classes is not an object"),
        ({**GOOD, "classes": {"high": 8}}, "amounts is not an object"),
        ({**GOOD, "until": "soon"}, "until is not a number of seconds"),
        ({**GOOD, "until": -1}, "until is not a number of seconds"),
        ({**GOOD, "until": True}, "until is not a number of seconds"),
        ({**GOOD, "object": "/ml/good"}, "object is not written as Kind.group/namespace/name"),
        ({**GOOD, "uid": 8}, "uid is not a text"),
        ({**GOOD, "forced": 1}, "forced is neither true nor false"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named_and_all_others_are_kept(wrong: Any, reason: str) -> None:
    decoded = gpu_quota_status.decode({"charges": [wrong, GOOD]})

    assert decoded.problems == (("/status/charges/0", reason),)
    assert used(decoded.ledger) == [8, 0]


def test_of_two_entries_of_one_object_the_more_counts() -> None:
    decoded = gpu_quota_status.decode({"charges": [GOOD, {**GOOD, "amounts": {"gpus": 3}, "until": 7}]})

    assert decoded.problems == (("/status/charges/1", "Job.batch/ml/good is charged twice; the larger charge counts"),)
    assert used(decoded.ledger) == [8, 0]


@pytest.mark.parametrize("charges", [[GOOD, {**GOOD, "forced": True}], [{**GOOD, "forced": True}, GOOD]])
def test_of_two_entries_of_one_object_one_that_was_forced_is_not_forgotten(charges: Any) -> None:
    assert gpu_quota_status.decode({"charges": charges}).ledger.entries["Job.batch/ml/good"].forced


def test_of_very_many_entries_that_cannot_be_read_the_first_are_named_and_the_rest_counted() -> None:
    decoded = gpu_quota_status.decode({"charges": [7] * 25})

    assert len(decoded.problems) == gpu_quota_status.MOST_TOLD + 1
    assert decoded.problems[-1] == ("/status/charges", "5 more entries cannot be read")
    assert len(decoded.unread) == 25


def test_what_a_later_release_wrote_is_not_to_be_written_over() -> None:
    decoded = gpu_quota_status.decode({"version": 3, "charges": [GOOD]})

    assert not decoded.writable
    assert decoded.problems[0][0] == "/status/version"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )
)
def test_a_status_of_any_form_gives_a_ledger(value: Any) -> None:
    forms: list[Any] = [value, {"charges": value}, {"charges": [value, GOOD]}]
    for each in forms:
        assert isinstance(gpu_quota_status.decode(each), gpu_quota_status.Decoded)
