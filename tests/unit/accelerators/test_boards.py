"""Each board offers what NVIDIA's tables say, and a node's label is recognised only where it is certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.accelerators import boards, mig
from usher.accelerators.mig import Board, Profile

# In the order of docs/domain/mig.md#profiles: 1g x7, 1g+me x1, 1g with double memory x4, 2g x3, 3g x2, 4g x1, 7g x1.
SEVEN_SLICES = {
    "A100-40": "1g.5gb 1g.5gb+me 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb",
    "A100-80": "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
    "H100-80": "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
    "H100-94": "1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb",
    "H100-96": "1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb",
    "GH200-144": "1g.18gb 1g.18gb+me 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb",
    "H200-141": "1g.18gb 1g.18gb+me 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb",
    "B200": "1g.23gb 1g.23gb+me 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb",
    "GB200": "1g.23gb 1g.23gb+me 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb",
    "B300": "1g.34gb 1g.34gb+me 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb",
    "GB300": "1g.35gb 1g.35gb+me 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb",
}
SEVEN_SLICES_MAXIMA = (7, 1, 4, 3, 2, 1, 1)

OTHERS = {
    "A30-24": {"1g.6gb": 4, "1g.6gb+me": 1, "2g.12gb": 2, "2g.12gb+me": 1, "4g.24gb": 1},
    "RTX-PRO-6000-96": {
        "1g.24gb": 4,
        "1g.24gb+me": 1,
        "1g.24gb+gfx": 4,
        "1g.24gb+me.all": 1,
        "1g.24gb-me": 4,
        "2g.48gb": 2,
        "2g.48gb+gfx": 2,
        "2g.48gb+me.all": 1,
        "2g.48gb-me": 2,
        "4g.96gb": 1,
        "4g.96gb+gfx": 1,
    },
    "RTX-PRO-5000-48": {
        "1g.24gb": 2,
        "1g.24gb+me": 1,
        "1g.24gb+gfx": 2,
        "1g.24gb+me.all": 1,
        "1g.24gb-me": 2,
        "2g.48gb": 1,
        "2g.48gb+gfx": 1,
        "1g.12gb": 1,
        "1g.12gb+me": 1,
        "1g.12gb+gfx": 1,
        "1g.12gb-me": 3,
        "2g.24gb-me": 1,
    },
    "RTX-PRO-4500-32": {
        "1g.16gb": 2,
        "1g.16gb+gfx": 2,
        "1g.16gb+me.all": 1,
        "1g.16gb-me": 2,
        "2g.32gb": 1,
        "2g.32gb+gfx": 1,
    },
}
TABLES = OTHERS | {
    name: dict(zip(names.split(), SEVEN_SLICES_MAXIMA, strict=True)) for name, names in SEVEN_SLICES.items()
}


def board(name: str) -> Board:
    found = boards.by_name(name)
    assert found is not None
    return found


def profile(text: str) -> Profile:
    found = mig.parse_profile(text)
    assert found is not None
    return found


def test_every_board_has_its_table() -> None:
    assert {known.name for known in boards.BOARDS} == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_board_offers_what_its_table_lists_and_as_often(name: str) -> None:
    assert {str(offer.names[0]): offer.shape.maximum for offer in board(name).offers} == TABLES[name]


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_a_board_lists_its_profiles_largest_first_and_the_full_one_is_all_of_it(known: Board) -> None:
    sizes = [(offer.shape.memory, offer.shape.compute) for offer in known.offers]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == (known.memory_slices, known.compute_slices)
    assert known.offers[0].names[0].gigabytes == known.memory


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_no_instance_reaches_over_the_edge_of_its_board(known: Board) -> None:
    for offer in known.offers:
        assert offer.names
        assert all(0 <= start <= known.memory_slices - offer.shape.memory for start in offer.shape.starts)
        assert len(offer.shape.engines) == len(known.engines)


@pytest.mark.parametrize("known", boards.BOARDS, ids=lambda known: known.name)
def test_a_profile_is_named_for_about_its_part_of_the_memory(known: Board) -> None:
    """The driver rounds the eighths of the memory, so that a name is never off by more than a GB or two."""
    for offer in known.offers:
        part = known.memory * offer.shape.memory / known.memory_slices
        assert all(abs(name.gigabytes - part) <= 3 for name in offer.names)


def test_no_name_stands_for_two_things_on_one_board() -> None:
    for known in boards.BOARDS:
        names = [name for offer in known.offers for name in offer.names]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("1g.24gb", "1g.23gb"),
        ("1g.24gb+me", "1g.23gb+me"),
        ("3g.95gb", "3g.93gb"),
        ("4g.95gb", "4g.93gb"),
        ("7g.189gb", "7g.186gb"),
    ],
)
def test_a_gb200_knows_the_names_of_its_first_and_of_its_later_drivers(first: str, later: str) -> None:
    assert board("GB200").offer(profile(first)) is board("GB200").offer(profile(later)) is not None
    assert board("B200").offer(profile(first)) is None


def test_an_rtx_pro_5000_knows_the_names_of_both_of_its_cuts() -> None:
    known = board("RTX-PRO-5000-48")
    assert known.offer(profile("4g.48gb")) is known.offer(profile("2g.48gb")) is not None


@pytest.mark.parametrize(
    ("text", "maxima"),
    [
        ("1g.10gb", {"A100-40": 4, "A100-80": 7, "H100-80": 7}),
        ("1g.35gb", {"H200-141": 4, "GB300": 7}),
        (
            "1g.24gb",
            {"H100-94": 4, "H100-96": 4, "GB200": 7, "RTX-PRO-6000-96": 4, "RTX-PRO-5000-48": 2},
        ),
        ("2g.24gb", {"H100-94": 3, "H100-96": 3}),
        ("1g.5gb", {"A100-40": 7}),
        ("1g.10gb+me.all", {}),
        ("1g.11gb", {}),
        ("5g.50gb", {}),
    ],
)
def test_one_name_means_different_things_on_different_boards(text: str, maxima: dict[str, int]) -> None:
    found = {
        known.name: offer.shape.maximum
        for known in boards.boards_with(profile(text))
        if (offer := known.offer(profile(text))) is not None
    }
    assert found == maxima


@pytest.mark.parametrize(
    ("alias", "name"),
    [("H800-80", "H100-80"), ("GH200-96", "H100-96"), ("H20-96", "H100-96"), ("A800-40", "A100-40"), ("A30", "A30-24")],
)
def test_boards_that_are_divided_alike_share_a_table(alias: str, name: str) -> None:
    assert boards.by_name(alias) is boards.by_name(name) is not None


@pytest.mark.parametrize(
    "name", ["", "A100", "H100", "H20", "GH200", "RTX-PRO-5000", "h100-80", "H100-80 ", "L40S", "T4", "V100-32"]
)
def test_a_name_that_is_unknown_or_fits_several_sizes_names_no_board(name: str) -> None:
    assert boards.by_name(name) is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("NVIDIA-A100-SXM4-40GB", "A100-40"),
        ("A100-SXM4-40GB", "A100-40"),
        ("NVIDIA-A100-PCIE-40GB", "A100-40"),
        ("NVIDIA-A800-SXM4-40GB", "A100-40"),
        ("NVIDIA-A100-SXM4-80GB", "A100-80"),
        ("NVIDIA-A100-80GB-PCIe", "A100-80"),
        ("NVIDIA-H100-80GB-HBM3", "H100-80"),
        ("NVIDIA-H100-PCIe", "H100-80"),
        ("NVIDIA-H800", "H100-80"),
        ("NVIDIA-H100-NVL", "H100-94"),
        ("NVIDIA-H20", "H100-96"),
        ("NVIDIA-GH200-480GB", "H100-96"),
        ("NVIDIA-GH200-144G-HBM3e", "GH200-144"),
        ("NVIDIA-H200", "H200-141"),
        ("NVIDIA-H200-NVL", "H200-141"),
        ("NVIDIA-B200", "B200"),
        ("NVIDIA-GB200", "GB200"),
        ("NVIDIA-B300-SXM6-AC", "B300"),
        ("NVIDIA-GB300", "GB300"),
        ("NVIDIA-A30", "A30-24"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000-96"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", "RTX-PRO-6000-96"),
        ("NVIDIA-RTX-PRO-5000-Blackwell", "RTX-PRO-5000-48"),
        ("NVIDIA-RTX-PRO-4500-Blackwell", "RTX-PRO-4500-32"),
    ],
)
def test_a_product_label_tells_the_board(value: str, name: str) -> None:
    whole = boards.Product(board=board(name), profile=None, shared=False, invalid=False)
    shared = boards.Product(board=board(name), profile=None, shared=True, invalid=False)
    assert boards.by_product(value) == whole
    assert boards.by_product(value + "-SHARED") == shared


def test_a_product_label_tells_what_all_gpus_are_divided_into() -> None:
    found = boards.by_product("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb.me")
    assert found == boards.Product(board=board("A100-40"), profile=profile("1g.5gb+me"), shared=False, invalid=False)


def test_divided_gpus_may_be_shared_as_well() -> None:
    found = boards.by_product("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED")
    assert found == boards.Product(board=board("H100-80"), profile=profile("1g.10gb"), shared=True, invalid=False)


def test_a_product_label_tells_that_the_layout_is_invalid() -> None:
    found = boards.by_product("NVIDIA-H100-80GB-HBM3-MIG-INVALID")
    assert found == boards.Product(board=board("H100-80"), profile=None, shared=False, invalid=True)


def test_a_node_is_believed_where_it_has_a_profile_that_the_table_lacks() -> None:
    found = boards.by_product("NVIDIA-H100-80GB-HBM3-MIG-1g.11gb")
    assert found is not None
    assert found.profile == profile("1g.11gb")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "NVIDIA-",
        "-SHARED",
        "Tesla-T4",
        "NVIDIA-L40S",
        "NVIDIA-H100",  # names no memory
        "NVIDIA-A100-SXM-64GB",
        "NVIDIA-H20-3e",
        "NVIDIA-GB300-WS",
        "NVIDIA-RTX-PRO-5000-72GB-Blackwell",
        "NVIDIA-H100-80GB-HBM3-MIG",
        "NVIDIA-H100-80GB-HBM3-MIG-",
        "NVIDIA-H100-80GB-HBM3-MIG-all",
        "NVIDIA-H100-80GB-HBM3-SHARED-SHARED",
        "NVIDIA-H100-80GB-HBM3-SHARED-MIG-1g.10gb",
        "NVIDIA-NVIDIA-H200",
        "nvidia-h200",
        "NVIDIA H200",
    ],
)
def test_a_product_that_is_unknown_or_ambiguous_is_not_guessed(value: str) -> None:
    assert boards.by_product(value) is None


@given(st.text(max_size=80))
def test_no_label_upsets_the_recognition(value: str) -> None:
    product, board = boards.by_product(value), boards.by_name(value)

    assert product is None or product.board in boards.BOARDS
    assert board is None or board in boards.BOARDS
