"""Elements of HTML: whatever a text holds, it stays a text."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from usher.audit.reports.html_elements import MOST, Html, element, joined


class _Reader(HTMLParser):
    """Reads HTML as a browser does: the elements with their attributes, and the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: Html) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


@given(st.text(st.characters(), max_size=60))
def test_no_text_makes_an_element_or_an_attribute(text: str) -> None:
    found = read(element("td", text, title=text))

    assert [(tag, set(attributes)) for tag, attributes in found.elements] == [("td", {"title"})]
    assert found.text == found.elements[0][1]["title"]
    assert found.text.isprintable() or not found.text


def test_control_and_direction_characters_become_visible() -> None:
    assert element("b", "\x1b[31m\u202egnp.exe\ud800") == "<b>\\x1b[31m\\u202egnp.exe\\ud800</b>"


def test_a_long_text_is_cut_and_says_how_long_it_is() -> None:
    assert read(element("td", "x" * 10_000)).text == "x" * MOST + "… (10,000 characters)"


def test_attributes_are_left_out_or_without_a_value() -> None:
    made = element("input", type="search", class_="wide", aria_label="any", hidden=True, disabled=False, id=None)

    assert made == '<input type="search" class="wide" aria-label="any" hidden>'


def test_children_that_are_elements_stay_elements() -> None:
    assert joined("a < b", None, element("b", "c")) == "a &lt; b<b>c</b>"
