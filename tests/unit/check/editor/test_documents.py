"""Offsets, lines and columns of a text, in the units of each encoding."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from usher.check.editor.documents import Encoding, Point, Range, Text

GRINNING = "\U0001f600"

characters = st.sampled_from(["a", " ", ":", "é", "\u4e2d", GRINNING, "\n", "\r", "\r\n", "\ufeff", "\ud800", "\u2028"])
contents = st.lists(characters, max_size=40).map("".join)
encodings = st.sampled_from(Encoding)


def units(part: str, encoding: Encoding) -> int:
    """The number of code units, as the encoding itself makes them."""
    size = {Encoding.UTF_8: 1, Encoding.UTF_16: 2, Encoding.UTF_32: 4}[encoding]
    codec = {Encoding.UTF_8: "utf-8", Encoding.UTF_16: "utf-16-le", Encoding.UTF_32: "utf-32-le"}[encoding]
    return len(part.encode(codec, "surrogatepass")) // size


@pytest.mark.parametrize(("encoding", "column"), [(Encoding.UTF_8, 5), (Encoding.UTF_16, 3), (Encoding.UTF_32, 2)])
def test_a_character_beyond_the_basic_plane_has_the_width_of_its_encoding(encoding: Encoding, column: int) -> None:
    text = Text(f"a{GRINNING}b", encoding=encoding)
    assert text.point(2) == Point(0, column)
    assert text.offset(Point(0, column)) == 2


def test_columns_are_those_of_utf_16_unless_the_client_says_otherwise() -> None:
    assert Text(GRINNING).point(1) == Point(0, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_end_of_the_protocol_ends_a_line(end: str) -> None:
    text = Text(f"one{end}two")
    assert text.lines == 2
    assert text.line(1) == "two"
    assert text.point(3 + len(end)) == Point(1, 0)


def test_a_separator_of_unicode_is_a_character_of_its_line() -> None:
    assert Text("one\u2028two").lines == 1


@pytest.mark.parametrize(
    ("point", "offset"),
    [
        (Point(0, 99), 2),
        (Point(99, 0), 5),
        (Point(-1, 7), 0),
        (Point(1, -3), 3),
        (Point(2**31 - 1, 2**31 - 1), 5),
    ],
)
def test_a_point_outside_the_text_means_the_nearest_one(point: Point, offset: int) -> None:
    assert Text("ab\ncd").offset(point) == offset


def test_a_point_within_a_character_means_its_start() -> None:
    text = Text(f"a{GRINNING}b")
    assert text.offset(Point(0, 2)) == 1
    assert text.column(Point(0, 2)) == 1


@pytest.mark.parametrize(("line", "column", "offset"), [(1, 1, 1), (2, 1, 4), (2, 2, 5), (9, 1, 6), (1, 0, 1)])
def test_places_of_usher_do_not_count_a_byte_order_mark(line: int, column: int, offset: int) -> None:
    assert Text("\ufeffab\ncd").offset_of(line, column) == offset


def test_a_carriage_return_alone_ends_a_line_of_the_editor_but_no_line_of_usher() -> None:
    text = Text("a\rb\nc")
    assert text.point(text.offset_of(1, 3)) == Point(1, 0)
    assert text.point(text.offset_of(2, 1)) == Point(2, 0)


def test_a_range_holds_its_end_because_the_cursor_touches_the_last_character_there() -> None:
    span = Range(Point(1, 2), Point(1, 4))
    assert span.holds(Point(1, 2))
    assert span.holds(Point(1, 4))
    assert not span.holds(Point(1, 5))
    assert not span.holds(Point(0, 3))


@given(contents, encodings, st.data())
@example(f"{GRINNING}\n", Encoding.UTF_16, None)
def test_offsets_come_back_from_their_points(content: str, encoding: Encoding, data: st.DataObject | None) -> None:
    text = Text(content, encoding=encoding)
    offset = data.draw(st.integers(0, len(content))) if data is not None else 1
    point = text.point(offset)
    within_line_end = content[offset - 1 : offset + 1] == "\r\n"
    assert text.offset(point) == offset - within_line_end


@given(contents, encodings)
def test_columns_count_the_units_of_their_encoding(content: str, encoding: Encoding) -> None:
    text = Text(content, encoding=encoding)
    for number in range(text.lines):
        line = text.line(number)
        start = text.offset(Point(number, 0))
        for index in range(len(line) + 1):
            assert text.point(start + index) == Point(number, units(line[:index], encoding))


@given(contents, encodings, st.integers(-2, 60), st.integers(-2, 60))
def test_every_point_of_a_client_has_an_offset_in_the_text(
    content: str, encoding: Encoding, line: int, column: int
) -> None:
    offset = Text(content, encoding=encoding).offset(Point(line, column))
    assert 0 <= offset <= len(content)
