"""The results of a run for some of its files. Each file has a part, and all parts together are the report."""

from collections import Counter
from dataclasses import field

from usher.dataclass import dataclass
from usher.scan import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The findings and the failures, in the order of the files."""

    results: list[findings.Result] = field(default_factory=list)
    failures: list[findings.Failure] = field(default_factory=list)
    problems: list[findings.Problem] = field(default_factory=list)
    notes: list[findings.Note] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    excepted: Counter[int] = field(default_factory=Counter)
    """By the index of an exception, the number of matching objects that count as part of others."""

    def add(self, other: "Part") -> None:
        """Adds the results of the files after this part."""
        self.results.extend(other.results)
        self.failures.extend(other.failures)
        self.problems.extend(other.problems)
        self.notes.extend(other.notes)
        for name, number in other.counts.items():  # ten times as fast as `update`
            self.counts[name] += number
        self.excepted.update(other.excepted)
