"""The report of `usher audit --demo` for people who pay: its room on a screen, on a phone and on paper."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser

import browser
from integration import command

pytestmark = [pytest.mark.process, browser.needed]

SCREEN = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

LINES = """() => [...document.querySelectorAll('main > section tbody tr')].flatMap((row) => {
  const range = document.createRange();
  const cells = [...row.children].filter((each) => each.offsetHeight).map((cell) => {
    range.selectNodeContents(cell);
    return [range.getBoundingClientRect().height, cell];
  }).sort(([one], [other]) => other - one);
  if (cells.length < 2 || cells[0][0] < 3 * cells[1][0]) return [];
  const lines = new Map();
  const texts = document.createTreeWalker(cells[0][1], NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (texts.currentNode.parentElement.tagName === "CODE") continue;
    for (let place = 0; place < texts.currentNode.length; place += 1) {
      range.setStart(texts.currentNode, place);
      range.setEnd(texts.currentNode, place + 1);
      const { top, width } = range.getBoundingClientRect();
      if (width) lines.set(top, (lines.get(top) ?? 0) + 1);
    }
  }
  return lines.size < 4 ? [] : [[cells[0][1].textContent, Math.max(...lines.values())]];
})"""
"""The text of each cell of four lines that is three times as high as all others of its row, with the characters of its
longest line."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("demo") / "demo.html"
    run = command.usher("audit", "--demo", "--format", f"html={file}")
    assert run.code == 0, run.err
    return browser.file_url(file)


def test_no_narrow_column_of_sentences_stands_beside_empty_ones(chromium: Browser, report: str) -> None:
    with browser.opened(chromium, report, viewport=SCREEN) as found:
        alone = found.page.evaluate(LINES)

    assert {text: width for text, width in alone if width < 40} == {}
    assert len(alone) > 10


def test_the_first_screen_is_full(chromium: Browser, report: str) -> None:
    with browser.opened(chromium, report, viewport=SCREEN) as found:
        cards = found.page.locator(".cards .card")
        boxes = [box for each in cards.all() if (box := each.bounding_box()) is not None]
        first = [each for each in boxes if each["y"] < SCREEN["height"]]
        empty = cards.evaluate_all("""(all) => all.map((each) => {
          const last = each.lastElementChild.getBoundingClientRect().bottom;
          return each.getBoundingClientRect().bottom - last;
        })""")[: len(first)]

    # Both halves have cards, and no card ends with much room below its last words.
    assert {each["x"] < SCREEN["width"] / 2 for each in first} == {True, False}
    assert max(empty) < SCREEN["height"] / 8


def test_the_first_sentence_has_at_most_three_numbers(chromium: Browser, report: str) -> None:
    with browser.opened(chromium, report, viewport=SCREEN) as found:
        first = found.page.locator(".story strong").inner_text()

    assert first.startswith("In the last 7 days the GPUs of this cluster cost USD ")
    assert len(re.findall(r"\d[\d,.]*", first)) <= 3


def test_a_phone_comes_to_gpus_and_money_soon(chromium: Browser, report: str) -> None:
    with browser.opened(chromium, report, viewport=PHONE) as found:
        section = found.page.get_by_role("heading", name="GPUs and money").bounding_box()
        broken = found.page.eval_on_selector_all(
            "h3 a, .tile .day", "(all) => all.filter((each) => each.getClientRects().length > 1).length"
        )

    assert section is not None
    assert section["y"] < 6_000
    assert broken == 0


def test_it_prints_in_twelve_pages(chromium: Browser, report: str) -> None:
    with browser.opened(chromium, report, viewport=SCREEN) as found:
        paper: Any = found.page.pdf(prefer_css_page_size=True)

    # The root of the tree of pages counts all of them.
    assert max(map(int, re.findall(rb"/Count (\d+)", paper))) <= 12
