"""The parts of docs/benchmarks.md that benchmarks write."""

import argparse
from collections.abc import Callable
from pathlib import Path


def publish(section: str, measure: Callable[[], str], *, description: str | None) -> None:
    """Prints the results, and with --write puts them between the marks of their section in a page."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", type=Path, help="write the tables into this Markdown file")
    page: Path | None = parser.parse_args().write
    text = measure()
    print(text)
    if page is not None:
        head, _, rest = page.read_text().partition(f"<!-- {section} -->\n")
        tail = rest.partition(f"<!-- /{section} -->")[2]
        page.write_text(f"{head}<!-- {section} -->\n{text}\n<!-- /{section} -->{tail}")
