"""Numbers in text and on pages: each has its unit, a missing one has no digits, and no accelerator is hidden."""

from collections.abc import Mapping

import pytest

from usher.audit.reports import numbers
from usher.audit.reports.numbers import PAGE, TEXT


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (numbers.plain(0), "0"),
        (numbers.plain(0.25), "0.25"),
        (numbers.plain(1.5), "1.5"),
        (numbers.plain(8.999999), "9"),
        (numbers.plain(0.001), "0"),
        (numbers.plain(1_234.5), "1,234"),
        (PAGE.gpus(1), "1 GPU"),
        (PAGE.gpus(0.96), "1 GPU"),
        (PAGE.gpus(1_234.56), "1,234.6 GPUs"),
        (PAGE.number(106.714), "106.7"),
        (PAGE.number(4 / 7), "0.6"),
        (PAGE.number(0.02), "0.02"),
        (PAGE.gpus(0), "0 GPUs"),
        (PAGE.hours(20_995.67784), "20,996 GPU-h"),
        (PAGE.money(39_159.896831, "USD"), "USD 39,160"),
        (PAGE.money(3.5, "EUR"), "EUR 3.50"),
        (PAGE.share(0.434915), "43 %"),
        (PAGE.share(0.052), "5.2 %"),
        (PAGE.share(1.0), "100 %"),
        (numbers.memory(40 * 2**30), "40 GiB"),
        (numbers.lasting(45), "45 s"),
        (numbers.lasting(5_400), "1.5 h"),
        (numbers.lasting(3_600), "1 h"),
        (numbers.lasting(40 * 86_400), "40 d"),
        (numbers.days(604_800), "7 days"),
        (numbers.days(3_600), "1 hour"),
        (numbers.minute("2026-11-23T06:00:00Z"), "2026-11-23 06:00 UTC"),
    ],
)
def test_a_number_is_written_with_its_unit(made: str, text: str) -> None:
    assert made == text


@pytest.mark.parametrize(
    "made",
    [
        numbers.plain(None),
        PAGE.gpus(None),
        PAGE.hours(None),
        PAGE.money(None, "USD"),
        PAGE.share(None),
        numbers.memory(None),
        numbers.lasting(None),
        numbers.days(None),
    ],
)
def test_a_missing_number_has_no_digits(made: str) -> None:
    assert not any(character.isdigit() for character in made)


def test_a_quotient_is_missing_where_a_part_of_it_is_or_the_whole_is_zero() -> None:
    assert numbers.part(1, 4) == 0.25
    assert numbers.part(None, 4) is None
    assert numbers.part(1, None) is None
    assert numbers.part(0, 0) is None


@pytest.mark.parametrize("text", ["", "yesterday", "2026-11-23", "2026-11-23T06:00:00"])
def test_a_text_that_is_not_a_moment_has_no_age(text: str) -> None:
    assert numbers.seconds_between(text, "2026-11-23T06:00:00Z") is None
    assert numbers.minute(text) == text


@pytest.mark.parametrize(
    ("most", "least", "others", "shown"),
    [
        (6, 6, {}, "6 GPUs"),
        (6, 4, {}, "4 to 6 GPUs"),
        (6, None, {}, "6 GPUs"),
        (0, 0, {}, "0 GPUs"),
        (None, None, {}, "GPUs not known"),
        (0, 0, {"google.com/tpu": 256}, "256 google.com/tpu"),
        (1, 1, {"google.com/tpu": 4}, "1 GPU, 4 google.com/tpu"),
        (None, None, {"google.com/tpu": 4}, "GPUs not known, 4 google.com/tpu"),
        (0, 0, dict.fromkeys("abcde", 2), "2 a, 2 b, 2 c, 2 d, and 1 more"),
    ],
)
def test_an_amount_names_all_accelerators(
    most: float | None, least: float | None, others: Mapping[str, float], shown: str
) -> None:
    assert TEXT.accelerators(most, least, others) == shown
