"""Measures the page of an audit of 10,000 findings in chromium: opening, filtering, sorting, and following a link."""

import io
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page

import browser
import sections
from builders import audited_clusters as clusters
from usher.audit.reports import audit_page

ROUNDS = 7
LIMIT = 1.0
"""Seconds in which the page has to open, and to filter."""

_TABLE = "[data-table=findings-table]"

_CHANGED = """async () => {
  const body = document.querySelector("[data-table=findings-table] tbody");
  const drawn = new Promise((done) => new MutationObserver(done).observe(body, { childList: true }));
  const started = performance.now();
  ACT
  await drawn;
  // After the next frame the user sees it.
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return (performance.now() - started) / 1000;
}"""

_OPENED = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"


def main() -> None:
    sections.publish("page", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    audit = clusters.large()
    writing = []
    for _ in range(3):
        before = time.process_time()
        stream = io.StringIO()
        audit_page.write(audit, stream)
        writing.append(time.process_time() - before)
    text = stream.getvalue()
    with tempfile.TemporaryDirectory() as folder, browser.started() as chromium:
        file = Path(folder) / "audit.html"
        file.write_text(text, encoding="utf-8")
        rounds = [measured(chromium, browser.file_url(file)) for _ in range(ROUNDS)]
    lines = [
        (
            f"{len(audit.findings):,} findings and {len(audit.workloads):,} workloads: {len(text) / 1e6:.1f} MB, "
            f"written in {statistics.median(writing):.1f} s of processor time. {ROUNDS} rounds, each with a new page."
        ),
        "",
        "| act of the user | seconds of the clock: median (min-max) | limit |",
        "| --- | ---: | ---: |",
    ]
    for name in rounds[0]:
        taken = [each[name] for each in rounds]
        spread = f"{statistics.median(taken):.2f} ({min(taken):.2f}-{max(taken):.2f})"
        lines.append(f"| {name} | {spread} | {LIMIT:.2f} |")
    return lines


def measured(chromium: Browser, url: str) -> dict[str, float]:
    with browser.opened(chromium, url) as found:
        page = found.page
        return {
            "opens the page, until it answers": page.evaluate(_OPENED) / 1000,
            "types a word for the first time": filtered(page, "worker-99"),
            "types other words": filtered(page, "robotics quota"),
            "takes the words away": filtered(page, ""),
            "sorts by GPUs": acted(page, 'document.querySelectorAll("#findings thead button")[4].click();'),
            "sorts by object": acted(page, 'document.querySelectorAll("#findings thead button")[2].click();'),
            "follows a link to the last finding": acted(page, 'location.hash = "#finding-000000000000270f";'),
        }


def filtered(page: Page, words: str) -> float:
    """Seconds from the last key to the new rows; 0.06 of them wait for another key."""
    field = f'document.querySelector("{_TABLE} input")'
    return acted(page, f"{field}.value = '{words}'; {field}.dispatchEvent(new Event('input', {{ bubbles: true }}));")


def acted(page: Page, act: str) -> float:
    """Seconds from an act to the frame that shows other rows."""
    return float(page.evaluate(_CHANGED.replace("ACT", act)))


if __name__ == "__main__":
    main()
