"""How many GPUs instances need: the exact number while they are few, an honest bound however many there are."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.accelerators import boards, mig
from usher.accelerators.mig import Board, Profile

ABSURD = 10**9


def board(name: str) -> Board:
    found = boards.by_name(name)
    assert found is not None
    return found


def instances(counts: Mapping[str, int]) -> dict[Profile, int]:
    found = {mig.parse_profile(text): count for text, count in counts.items()}
    return {profile: count for profile, count in found.items() if profile is not None}


def exactly(number: int) -> mig.GpusNeeded:
    return mig.GpusNeeded(at_least=number, exact=True)


def needed(known: Board, asked: Mapping[Profile, int]) -> mig.GpusNeeded:
    found = mig.gpus_needed(known, asked)
    assert found is not None
    return found


def by_trying_all(known: Board, asked: Counter[Profile]) -> int:
    """The fewest GPUs, by giving each instance in turn to every GPU that is in use, or to a new one."""
    wanted = list(asked.elements())
    best = len(wanted)

    def place(index: int, gpus: list[Counter[Profile]]) -> None:
        nonlocal best
        if len(gpus) >= best:
            return
        if index == len(wanted):
            best = len(gpus)
            return
        for gpu in gpus:
            gpu[wanted[index]] += 1
            if mig.instances_fit(known, gpu):
                place(index + 1, gpus)
            gpu[wanted[index]] -= 1
        place(index + 1, [*gpus, Counter([wanted[index]])])

    place(0, [])
    return best


any_board = st.sampled_from(boards.BOARDS)


@st.composite
def sets(draw: st.DrawFn, *, most: int) -> tuple[Board, Counter[Profile]]:
    known = draw(any_board)
    offered = st.sampled_from([offer.names[0] for offer in known.offers])
    return known, Counter(draw(st.lists(offered, max_size=most)))


@pytest.mark.parametrize(
    ("name", "asked", "gpus"),
    [
        ("H100-80", {"3g.40gb": 2}, 1),
        ("H100-80", {"3g.40gb": 3}, 2),
        ("H100-80", {"1g.10gb": 7}, 1),
        ("H100-80", {"1g.10gb": 8}, 2),
        ("A100-40", {"1g.10gb": 8}, 2),
        ("A100-40", {"1g.10gb": 9}, 3),
        ("H100-80", {"1g.10gb+me": 3}, 3),
        ("H100-80", {"7g.80gb": 1, "1g.10gb": 1}, 2),
        ("H100-80", {"3g.40gb": 2, "1g.10gb": 1}, 2),
        ("H100-80", {"3g.40gb": 2, "4g.40gb": 2}, 2),
        ("H100-80", {"3g.40gb": 3, "4g.40gb": 2}, 3),
        ("H100-80", {"2g.20gb": 5, "1g.20gb": 2, "1g.10gb+me": 2}, 3),
        ("RTX-PRO-6000-96", {"1g.24gb+me.all": 1, "1g.24gb": 1}, 2),
        ("RTX-PRO-6000-96", {"1g.24gb+me.all": 2, "1g.24gb-me": 6}, 2),
        ("A30-24", {"4g.24gb": 1, "2g.12gb": 1, "1g.6gb": 2}, 2),
        ("GB200", {"3g.93gb": 2, "3g.95gb": 1}, 2),
    ],
)
def test_a_container_needs_so_many_gpus(name: str, asked: dict[str, int], gpus: int) -> None:
    assert mig.gpus_needed(board(name), instances(asked)) == exactly(gpus)


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_any_number_of_one_profile_is_known_exactly(known: Board) -> None:
    for offer in known.offers:
        for count in (1, offer.shape.maximum, offer.shape.maximum + 1, 100, ABSURD, ABSURD + 1):
            assert needed(known, {offer.names[0]: count}) == exactly(-(-count // offer.shape.maximum))


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_an_absurd_mix_is_answered_by_a_bound(known: Board) -> None:
    asked = {offer.names[0]: ABSURD for offer in known.offers}
    found = needed(known, asked)
    assert not mig.instances_fit(known, asked)
    assert not found.exact
    assert found.at_least >= ABSURD
    assert mig.room_beside(known, asked) is None


def test_absurd_numbers_of_unknown_profiles_are_refused_as_few_are() -> None:
    asked = instances({f"{slices}g.{memory}gb": ABSURD for slices in range(1, 9) for memory in range(1, 200)})
    for known in boards.BOARDS:
        assert not mig.instances_fit(known, asked)
        assert mig.gpus_needed(known, asked) is None


@given(sets(most=8))
def test_the_number_is_what_trying_all_ways_finds(case: tuple[Board, Counter[Profile]]) -> None:
    known, asked = case
    assert needed(known, asked) == exactly(by_trying_all(known, asked))


@given(sets(most=mig.EXACT_INSTANCES - 1), st.data())
def test_one_instance_more_never_needs_fewer_gpus_and_at_most_one_more(
    case: tuple[Board, Counter[Profile]], data: st.DataObject
) -> None:
    known, asked = case
    one = data.draw(st.sampled_from([offer.names[0] for offer in known.offers]))
    before, after = needed(known, asked), needed(known, asked + Counter([one]))
    assert before.exact
    assert after.exact
    assert before.at_least <= after.at_least <= before.at_least + 1


@given(sets(most=10), st.data())
def test_one_instance_more_never_makes_a_set_fit(case: tuple[Board, Counter[Profile]], data: st.DataObject) -> None:
    known, asked = case
    one = data.draw(st.sampled_from([offer.names[0] for offer in known.offers]))
    if mig.instances_fit(known, asked + Counter([one])):
        assert mig.instances_fit(known, asked)


@given(sets(most=12), st.randoms(use_true_random=False))
def test_the_order_of_the_profiles_does_not_matter(case: tuple[Board, Counter[Profile]], shuffler: Random) -> None:
    known, asked = case
    items = list(asked.items())
    shuffler.shuffle(items)
    assert mig.instances_fit(known, dict(items)) == mig.instances_fit(known, asked)
    assert mig.gpus_needed(known, dict(items)) == mig.gpus_needed(known, asked)


@given(sets(most=12))
def test_a_set_fits_exactly_when_one_gpu_is_enough(case: tuple[Board, Counter[Profile]]) -> None:
    known, asked = case
    assert mig.instances_fit(known, asked) == (needed(known, asked).at_least <= 1)


@given(sets(most=mig.EXACT_INSTANCES), st.integers(2, ABSURD))
def test_a_bound_for_many_times_a_set_is_never_more_than_so_many_times_its_gpus(
    case: tuple[Board, Counter[Profile]], times: int
) -> None:
    known, asked = case
    many = {profile: count * times for profile, count in asked.items()}
    assert needed(known, many).at_least <= needed(known, asked).at_least * times


@given(sets(most=8))
def test_what_has_room_beside_a_set_fits_beside_it_and_one_more_does_not(case: tuple[Board, Counter[Profile]]) -> None:
    known, placed = case
    room = mig.room_beside(known, placed)
    assert (room is None) == (not mig.instances_fit(known, placed))
    for profile, more in (room or {}).items():
        assert mig.instances_fit(known, placed + Counter({profile: more}))
        assert not mig.instances_fit(known, placed + Counter({profile: more + 1}))
