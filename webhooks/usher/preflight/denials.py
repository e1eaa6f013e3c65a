"""The existing workloads that enforcement would deny, by namespace and check."""

from collections import Counter
from collections.abc import Iterator

from usher import model
from usher.dataclass import dataclass
from usher.preflight import point
from usher.scan import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The workloads of one namespace that one check would deny if they were created again."""

    code: str
    check: str
    namespace: str
    workloads: int
    example: str


def of(report: findings.Report) -> tuple[Denied, ...]:
    """The denials of an audit, the most frequent first."""
    numbers: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], str] = {}
    for result in report.results:
        found = {
            (each.judgement.code, each.judgement.name, result.identity.namespace)
            for each in result.findings
            if each.judgement.outcome is model.Outcome.DENY
        }
        for key in found:
            numbers[key] += 1
            examples.setdefault(key, str(result.identity))
    return tuple(
        Denied(code=key[0], check=key[1], namespace=key[2], workloads=number, example=examples[key])
        for key, number in sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    )


def points(report: findings.Report, denied: tuple[Denied, ...]) -> Iterator[point.Point]:
    topic = "workloads"
    for problem in report.problems:
        yield point.not_known(topic, f"{problem.source}: {problem.reason}")
    if report.failures:
        yield point.not_known(topic, f"{len(report.failures)} objects could not be judged because of errors in usher")
    number = sum(result.worst is model.Outcome.DENY for result in report.results)
    if not number:
        yield point.good(topic, f"none of {report.totals.workloads} workloads would be denied")
        return
    namespaces = len({each.namespace for each in denied})
    within = "one namespace" if namespaces == 1 else f"{namespaces} namespaces"
    text = f"{number} of {report.totals.workloads} workloads, in {within}, would be denied if they came now"
    yield point.attention(topic, text, "tell their owners, mend them, or write rules and exceptions into usher.yaml")
