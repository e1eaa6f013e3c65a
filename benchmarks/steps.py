"""Measures the steps of `usher check` on 1,000 objects of every kind: reading, judging, mutating, the report."""

import io
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sections
import yardstick
from usher.check import findings, judging, runner, sources
from usher.check.batches import Batch
from usher.check.formats import text
from usher.config.load import load
from usher.policy import assembly

ROOT = Path(__file__).parents[1]
OBJECTS = 1000
ROUNDS = 7


def main() -> None:
    sections.publish("steps", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    evaluator = assembly.embedded(load(ROOT / "tests/data/mutations/usher.yaml"))

    def judged(batches: list[Batch], *, mutated: bool) -> findings.Report:
        settings = judging.Settings(command=findings.Command.CHECK, mutated=mutated)
        return runner.run(batches, evaluator=evaluator, settings=settings)

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        batches = read(folder)
        report_of_all = judged(batches, mutated=True)
        cases: dict[str, Callable[[], object]] = {
            "reading the files": lambda: read(folder),
            "judging them as written": lambda: judged(batches, mutated=False),
            "mutating and judging them": lambda: judged(batches, mutated=True),
            "writing the report": lambda: text.write(report_of_all, io.StringIO()),
        }
        taken: dict[str, list[float]] = {name: [] for name in cases}
        units = []
        for _ in range(ROUNDS):
            units.append(yardstick.measured(yardstick.add_up))
            for name, call in cases.items():
                started = time.process_time()
                call()
                taken[name].append(time.process_time() - started)
        changed = sum(result.change is not None for result in report_of_all.results)
    lines = ["| step | processor seconds: median (min-max) |", "| --- | ---: |"]
    for name, values in taken.items():
        lines.append(f"| {name} | {statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f}) |")
    number = sum(len(batch.items) for batch in batches)
    unit = statistics.median(units)
    return [
        f"{number:,} objects; the webhook changes {changed:,} of them; {ROUNDS} rounds.",
        "",
        *lines,
        "",
        f"The {yardstick.NAME} took {unit:.3f} ms.",
    ]


def write(folder: Path) -> None:
    """Copies of the manifests of every kind, until there are 1,000 objects."""
    texts = [file.read_text() for file in sorted((ROOT / "tests/data/mutations").glob("*/*.yaml"))]
    number = 0
    for copy, manifest in enumerate(itertools.cycle(texts)):
        if number >= OBJECTS:
            return
        (folder / f"{copy:04}.yaml").write_text(manifest)
        number += manifest.count("\nkind: ")


def read(folder: str) -> list[Batch]:
    return list(sources.read([folder], stdin=io.BytesIO()))


if __name__ == "__main__":
    main()
