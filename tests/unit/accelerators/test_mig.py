"""Which MIG instances fit on one GPU, against NVIDIA's placement table, enumerated here in another way."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import pytest

from usher.accelerators import boards, mig
from usher.accelerators.mig import Board, Profile

# Width and starts, from the table of docs/domain/mig.md#placement; `d` is 1g with double memory.
SEVEN_SLICES = {
    "7g": (8, (0,)),
    "4g": (4, (0,)),
    "3g": (4, (0, 4)),
    "2g": (2, (0, 2, 4)),
    "d": (2, (0, 2, 4, 6)),
    "1g": (1, (0, 1, 2, 3, 4, 5, 6)),
    "me": (1, (0, 1, 2, 3, 4, 5, 6)),
}
FOUR_SLICES = {"4g": (4, (0,)), "2g": (2, (0, 2)), "1g": (1, (0, 1, 2, 3))}

ON_H100_80 = {
    "7g": "7g.80gb",
    "4g": "4g.40gb",
    "3g": "3g.40gb",
    "2g": "2g.20gb",
    "d": "1g.20gb",
    "1g": "1g.10gb",
    "me": "1g.10gb+me",
}
ON_A30 = {"4g": "4g.24gb", "2g": "2g.12gb", "1g": "1g.6gb"}

WITHOUT_DOUBLE_MEMORY = """
    7g | 4g+3g | 4g+2g+1g | 4g+3x1g | 3g+3g | 3g+2x2g | 3g+2g+2x1g | 3g+4x1g | 3x2g+1g | 2x2g+3x1g | 2g+5x1g | 7x1g
"""
ONLY_WITH_DOUBLE_MEMORY = """
    4g+2g+d | 4g+2xd | 4g+d+2x1g | 3g+2g+d | 3g+2xd | 3g+d+2x1g | 3x2g+d | 2x2g+2xd | 2x2g+d+2x1g | 2g+3xd |
    2g+2xd+2x1g | 2g+d+4x1g | 4xd | 3xd+2x1g | 2xd+4x1g | d+6x1g
"""

SEVEN_SLICE_BOARDS = [known for known in boards.BOARDS if known.compute_slices == 7]


def board(name: str) -> Board:
    found = boards.by_name(name)
    assert found is not None
    return found


@cache
def profile(text: str) -> Profile:
    found = mig.parse_profile(text)
    assert found is not None
    return found


def instances(counts: Mapping[str, int]) -> dict[Profile, int]:
    return {profile(text): count for text, count in counts.items()}


def mix(text: str, names: Mapping[str, str] = ON_H100_80) -> Counter[Profile]:
    """`3g+4x1g` as instances; `d` is 1g with double memory, `me` is 1g with media engines."""
    counts: Counter[Profile] = Counter()
    for term in text.split("+"):
        count, _, kind = term.strip().rpartition("x")
        counts[profile(names[kind])] += int(count or 1)
    return counts


def mixes(text: str, names: Mapping[str, str] = ON_H100_80) -> set[frozenset[tuple[Profile, int]]]:
    return {frozenset(mix(one, names).items()) for one in text.split("|")}


def lies(widths: Mapping[str, tuple[int, tuple[int, ...]]], kinds: tuple[str, ...], taken: int = 0) -> bool:
    """Whether the instances can all lie somewhere: every place of the first is tried with every one of the others."""
    if not kinds:
        return True
    width, starts = widths[kinds[0]]
    return any(
        not taken & (mask := (2**width - 1) << start) and lies(widths, kinds[1:], taken | mask) for start in starts
    )


def feasible(widths: Mapping[str, tuple[int, tuple[int, ...]]]) -> Iterator[tuple[str, ...]]:
    """Every set of at most seven instances that lies on a GPU; at most one of them with media engines."""
    for size in range(1, 8):
        for kinds in combinations_with_replacement(widths, size):
            if kinds.count("me") <= 1 and not ("7g" in kinds and "me" in kinds) and lies(widths, kinds):
                yield kinds


def as_instances(kinds: tuple[str, ...], names: Mapping[str, str]) -> Counter[Profile]:
    return Counter(profile(names[kind]) for kind in kinds)


def all_that_fit(known: Board, names: Mapping[str, str]) -> set[frozenset[tuple[Profile, int]]]:
    return {
        frozenset(counts.items())
        for size in range(1, 9)
        for kinds in combinations_with_replacement(names, size)
        if mig.instances_fit(known, counts := as_instances(kinds, names))
    }


def maximal(known: Board, names: Mapping[str, str]) -> set[frozenset[tuple[Profile, int]]]:
    """The sets that fit, to which nothing can be added."""
    return {
        fitting
        for fitting in all_that_fit(known, names)
        if not any(
            mig.instances_fit(known, Counter(dict(fitting)) + Counter([profile(name)])) for name in names.values()
        )
    }


def without(names: Mapping[str, str], *kinds: str) -> dict[str, str]:
    return {kind: name for kind, name in names.items() if kind not in kinds}


def test_37_sets_fit_on_seven_slices_without_double_memory() -> None:
    names = without(ON_H100_80, "d", "me")
    assert len(all_that_fit(board("H100-80"), names)) == 37
    assert maximal(board("H100-80"), names) == mixes(WITHOUT_DOUBLE_MEMORY)


def test_77_sets_fit_on_seven_slices_with_double_memory() -> None:
    names = without(ON_H100_80, "me")
    assert len(all_that_fit(board("H100-80"), names)) == 77
    assert maximal(board("H100-80"), names) == mixes(WITHOUT_DOUBLE_MEMORY) | mixes(ONLY_WITH_DOUBLE_MEMORY)


def test_every_set_that_fits_is_one_that_a_search_of_all_places_finds() -> None:
    found = {frozenset(as_instances(kinds, ON_H100_80).items()) for kinds in feasible(SEVEN_SLICES)}
    assert all_that_fit(board("H100-80"), ON_H100_80) == found
    assert len(found) == 127


def test_four_slices_take_what_a_search_of_all_places_finds() -> None:
    found = {frozenset(as_instances(kinds, ON_A30).items()) for kinds in feasible(FOUR_SLICES)}
    assert all_that_fit(board("A30-24"), ON_A30) == found
    assert maximal(board("A30-24"), ON_A30) == mixes("4g | 2x2g | 2g+2x1g | 4x1g", ON_A30)


@pytest.mark.parametrize("known", SEVEN_SLICE_BOARDS, ids=lambda known: known.name)
def test_all_boards_of_seven_slices_are_divided_alike(known: Board) -> None:
    names = {
        kind: str(offer.names[0])
        for kind, offer in zip(("7g", "4g", "3g", "2g", "d", "1g", "me"), known.offers, strict=True)
    }
    assert len(all_that_fit(known, names)) == 127
    assert mig.instances_fit(known, mix("3g+4x1g", names))
    assert not mig.instances_fit(known, mix("3g+3g+1g", names))


@pytest.mark.parametrize(
    "text",
    ["3g+3g+1g", "4g+4g", "3x2g+2x1g", "4g+4x1g", "5xd", "8x1g", "3x3g", "2x7g", "3g+4g+me", "2xme", "1g+2xme"],
)
def test_what_does_not_fit_on_seven_slices(text: str) -> None:
    """`3g+3g+1g` asks only 7 of 7 compute slices, but the two 3g take all memory."""
    assert not mig.instances_fit(board("H100-80"), mix(text))


@pytest.mark.parametrize("beside", ["1g", "me", "d", "2g", "3g", "4g", "7g"])
def test_nothing_fits_beside_a_full_profile(beside: str) -> None:
    assert not mig.instances_fit(board("H100-80"), mix(f"7g+{beside}"))


@pytest.mark.parametrize("text", ["3g+4x1g", "4g+3g", "2x1g+2g+3g", "me+6x1g", "3g+me+3x1g", "4g+2g+me", "me+d+5x1g"])
def test_what_fits_on_seven_slices(text: str) -> None:
    """`3g+4x1g` fits with the 3g at slice 4 alone; `2x1g+2g+3g` is mig-parted's all-balanced."""
    assert mig.instances_fit(board("H100-80"), mix(text))


def test_the_balanced_layout_of_four_slices_fits() -> None:
    assert mig.instances_fit(board("A30-24"), mix("2x1g+2g", ON_A30))


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_a_profile_fits_as_often_as_the_table_says_and_no_more(known: Board) -> None:
    for offer in known.offers:
        assert mig.instances_fit(known, {offer.names[0]: offer.shape.maximum})
        assert not mig.instances_fit(known, {offer.names[0]: offer.shape.maximum + 1})


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_no_set_that_fits_is_more_than_one_gpu(known: Board) -> None:
    for first in known.offers:
        for second in known.offers:
            pair = Counter([first.names[0], second.names[0]])
            if mig.instances_fit(known, pair):
                shares = [mig.share_of_instance(known, name) for name in pair.elements()]
                assert sum(share.compute for share in shares if share) <= 1
                assert sum(share.memory for share in shares if share) <= 1


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"1g.24gb": 4}, True),
        ({"1g.24gb": 2, "1g.24gb+gfx": 2}, True),
        ({"1g.24gb": 3, "1g.24gb+me": 1}, True),
        ({"2g.48gb": 1, "1g.24gb+me": 1, "1g.24gb+gfx": 1}, True),
        ({"1g.24gb+me.all": 1, "1g.24gb-me": 3}, True),
        ({"2g.48gb+me.all": 1, "2g.48gb-me": 1}, True),
        ({"1g.24gb+me": 1, "1g.24gb+me.all": 1}, False),
        ({"1g.24gb+me": 1, "2g.48gb+me.all": 1}, False),
        ({"1g.24gb+me.all": 1, "1g.24gb": 1}, False),
        ({"2g.48gb+me.all": 1, "1g.24gb+gfx": 1}, False),
        ({"2g.48gb": 2, "1g.24gb-me": 1}, False),
        ({"4g.96gb": 1, "1g.24gb-me": 1}, False),
    ],
)
def test_media_engines_of_an_rtx_pro_are_given_once(asked: dict[str, int], expected: bool) -> None:
    assert mig.instances_fit(board("RTX-PRO-6000-96"), instances(asked)) is expected


def test_only_one_instance_of_an_a30_has_the_media_engines() -> None:
    assert mig.instances_fit(board("A30-24"), instances({"2g.12gb+me": 1, "1g.6gb": 2}))
    assert not mig.instances_fit(board("A30-24"), instances({"2g.12gb+me": 1, "1g.6gb+me": 1}))


def test_one_name_fits_four_times_or_seven_times_by_its_board() -> None:
    asked = instances({"1g.10gb": 5})
    assert not mig.instances_fit(board("A100-40"), asked)
    assert mig.instances_fit(board("A100-80"), asked)


def test_two_names_of_one_profile_count_as_one() -> None:
    assert mig.instances_fit(board("GB200"), instances({"3g.93gb": 1, "3g.95gb": 1}))
    assert not mig.instances_fit(board("GB200"), instances({"3g.93gb": 2, "3g.95gb": 1}))


def test_profiles_of_another_board_fit_nowhere() -> None:
    asked = instances({"1g.10gb": 1, "1g.5gb": 1})
    assert mig.instances_fit(board("A100-40"), asked)
    assert not mig.instances_fit(board("A100-80"), asked)
    assert mig.gpus_needed(board("A100-80"), asked) is None
    assert mig.room_beside(board("A100-80"), asked) is None


def test_nothing_fits_everywhere_and_needs_no_gpu() -> None:
    for known in boards.BOARDS:
        for asked in ({}, instances({"1g.10gb": 0}), instances({"1g.11gb": 0, "1g.10gb": -3})):
            assert mig.instances_fit(known, asked)
            assert mig.gpus_needed(known, asked) == mig.GpusNeeded(at_least=0, exact=True)


def test_room_beside_a_3g_is_four_1g_or_one_4g() -> None:
    room = mig.room_beside(board("H100-80"), mix("3g"))
    assert room == instances(
        {
            "7g.80gb": 0,
            "4g.40gb": 1,
            "3g.40gb": 1,
            "2g.20gb": 2,
            "1g.20gb": 2,
            "1g.10gb": 4,
            "1g.10gb+me": 1,
        }
    )


def test_there_is_no_room_beside_what_does_not_fit() -> None:
    assert mig.room_beside(board("H100-80"), mix("2x4g")) is None


@pytest.mark.parametrize(
    ("name", "text", "compute", "memory", "gibibytes"),
    [
        ("A100-40", "1g.10gb", Fraction(1, 7), Fraction(2, 8), 10),
        ("A100-80", "1g.10gb", Fraction(1, 7), Fraction(1, 8), 10),
        ("H100-80", "3g.40gb", Fraction(3, 7), Fraction(4, 8), 40),
        ("H100-80", "7g.80gb", Fraction(1), Fraction(1), 80),
        ("H200-141", "1g.18gb+me", Fraction(1, 7), Fraction(1, 8), 18),
        ("GB200", "3g.95gb", Fraction(3, 7), Fraction(4, 8), 95),
        ("A30-24", "2g.12gb", Fraction(1, 2), Fraction(1, 2), 12),
        ("RTX-PRO-6000-96", "1g.24gb-me", Fraction(1, 4), Fraction(1, 4), 24),
        ("RTX-PRO-5000-48", "1g.24gb", Fraction(1, 2), Fraction(1, 2), 24),
        ("RTX-PRO-5000-48", "1g.12gb", Fraction(1, 4), Fraction(1, 4), 12),
        ("RTX-PRO-4500-32", "2g.32gb+gfx", Fraction(1), Fraction(1), 32),
    ],
)
def test_a_profile_is_an_exact_share_of_its_board(
    name: str, text: str, compute: Fraction, memory: Fraction, gibibytes: int
) -> None:
    expected = mig.Share(compute=compute, memory=memory, gibibytes=gibibytes)
    assert mig.share_of_instance(board(name), profile(text)) == expected


def test_shares_of_different_profiles_add_up_in_one_unit() -> None:
    first = mig.share_of_instance(board("A100-40"), profile("1g.10gb"))
    second = mig.share_of_instance(board("H100-80"), profile("3g.40gb"))
    assert first is not None
    assert second is not None
    assert first * 2 + second == mig.Share(compute=Fraction(5, 7), memory=Fraction(1), gibibytes=60)


def test_a_profile_that_the_board_lacks_has_no_share_of_it() -> None:
    assert mig.share_of_instance(board("A100-80"), profile("1g.5gb")) is None
