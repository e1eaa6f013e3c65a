"""The parts of docs/benchmarks.md that benchmarks write."""

from pathlib import Path


def write(page: Path, section: str, text: str) -> None:
    """Replaces what stands between the marks of a section."""
    head, _, rest = page.read_text().partition(f"<!-- {section} -->\n")
    tail = rest.partition(f"<!-- /{section} -->")[2]
    page.write_text(f"{head}<!-- {section} -->\n{text}\n<!-- /{section} -->{tail}")
