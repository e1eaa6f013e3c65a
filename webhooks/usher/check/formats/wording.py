"""Words for people: names, numbers and amounts of resources, safe to print."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from usher import memo, model, quantities
from usher.accelerators import names
from usher.accelerators.vocabulary import Vocabulary
from usher.check import devices as scan_devices
from usher.check import findings

WORDS: Final = {model.Outcome.DENY: "error", model.Outcome.WARN: "warn", model.Outcome.AUDIT: "note"}
STYLES: Final = {model.Outcome.DENY: "bold red", model.Outcome.WARN: "yellow", model.Outcome.AUDIT: "cyan"}

ADDED: Final = "the mutating webhook adds this field; it is not in the file"
"""A note for a finding whose place is only the nearest one in the file."""

# Azure Pipelines and GitHub Actions read these as commands anywhere in a line of a log.
_LOG_COMMAND: Final = memo.pattern(r"##(?=\[|vso\[)")
# GitHub Actions reads these at the start of a line.
_LINE_COMMAND: Final = memo.pattern(r"^(\s*)::", re.MULTILINE)

_NAMED: Final = 6
"""The most sources with the same reason that are named."""

_PLAIN_WORD: Final = memo.pattern(r"[a-z]+[ ,]")


def printable(text: str) -> str:
    """Text from a manifest or a file name, safe to show on a terminal or in a log.

    Control and format characters (ANSI sequences, line ends, right-to-left marks) become visible escapes.
    """
    if not text.isprintable():
        text = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return text


def without_commands(text: str) -> str:
    """Text for the inside of a line, made safe so that CI systems find no command like `##[...]` or
    `##vso[...]` in it.
    """
    return _LOG_COMMAND.sub("# #", text)


def json_without_commands(text: str) -> str:
    """JSON in which CI systems find no command. Its readers get the same values, because each `#` becomes an escape."""
    return _LOG_COMMAND.sub(r"\\u0023#", text)


def xml_without_commands(text: str) -> str:
    """The same for texts and attributes of XML, also for lines that begin like a command of GitHub."""
    return _LINE_COMMAND.sub(r"\1&#58;:", _LOG_COMMAND.sub("&#35;#", text))


def harmless(line: str) -> str:
    """A whole line of output in which CI systems find no command."""
    line = without_commands(line)
    return f"| {line}" if line.lstrip().startswith("::") else line


def count(number: int, thing: str, things: str = "") -> str:
    """`1 file`, `2,000 files`, `2 Topologies`, `2 PriorityClasses`."""
    if not things:
        things = _ENDS_IN_Y.sub("ie", thing) + ("es" if thing.endswith("s") else "s")
    return f"{number:,} {thing if number == 1 else things}"


_ENDS_IN_Y: Final = memo.pattern(r"(?<![aeiou])y$")


def workload_name(workload: model.Workload) -> str:
    """`Job ml-research/bert`."""
    namespace = f"{workload.namespace}/" if workload.namespace else ""
    return f"{workload.kind} {namespace}{workload.name or '(unnamed)'}"


def about(result: findings.Result, pod_set: findings.PodSet | None) -> str:
    """The workload of a finding and its pods: `PyTorchJob ml-research/bert, Worker (8 pods)`."""
    if not result.makes_pods:
        return str(result.identity)
    if pod_set is None or not pod_set.name:
        return f"{result.identity} ({pods_with_reason(result.pods)})"
    return f"{result.identity}, {pod_set.name} ({pods_with_reason(pod_set.pods)})"


def amount(value: scan_devices.Amount) -> str:
    """`64`, `0.5`, `2 to 3` if some exist only at times, or `64+` without an upper bound."""
    most = _number_text(value.number)
    if value.unbounded:
        return f"{most}+"
    return f"{_number_text(value.least)} to {most}" if value.extra else most


def _number_text(number: int | Decimal) -> str:
    shortest = int(number) if number == int(number) else Decimal(number).normalize()
    return f"{shortest:,}"


def devices(value: scan_devices.Devices) -> str:
    """Whole GPUs first, then everything else by its own name: `96 GPUs, 4 nvidia.com/mig-1g.10gb`."""
    gpus = scan_devices.gpus(value)
    parts = [f"{amount(gpus)} {'GPU' if gpus == scan_devices.Amount(number=1) else 'GPUs'}"] if gpus else []
    parts += [
        f"{amount(each)} {_NOT_RESOURCES.get(resource, printable(resource))}"
        for resource, each in value.items()
        if resource not in names.WHOLE_GPUS and each
    ]
    return ", ".join(parts) or "0 GPUs"


_NOT_RESOURCES: Final = {
    names.GKE_DEVICES.rstrip("."): "device files in annotations of GKE",
    names.GPU_FRACTION: "GPUs in parts (gpu-fraction)",
    names.GPU_MEMORY: "MiB of GPU memory (gpu-memory)",
}
"""Words for routes to accelerators that are not requests of a resource."""


def by_code(judgement: model.Judgement) -> tuple[int, str, str]:
    """A sort key by code, USH330 before USH1220, then by name."""
    return len(judgement.code), judgement.code, judgement.name


def pods(value: model.Count) -> str:
    """`8 pods`, `2 to 8 pods`, `2 or more pods`."""
    if value.maximum is None:
        return f"{value.minimum:,} or more pods"
    if value.minimum != value.maximum:
        return f"{value.minimum:,} to {value.maximum:,} pods"
    return count(value.maximum, "pod")


def pods_with_reason(value: model.Count) -> str:
    """`8 pods`, or with the reason of a range: `2 to 3 pods: a rollout adds 1`."""
    return f"{pods(value)}: {value.reason}" if value.reason and value.minimum != value.maximum else pods(value)


def finding_counts(totals: findings.Totals) -> str:
    """`2 errors (in workloads of 72 GPUs), 1 warning`, without outcomes that have no findings, except errors."""
    if not totals.errors and not totals.warnings and not totals.notes:
        return "no errors, no warnings"
    parts = [count(totals.errors, "error") if totals.errors else "no errors"]
    if totals.accelerators_with_errors:
        parts[0] += f" (in workloads of {devices(totals.accelerators_with_errors)})"
    if totals.warnings:
        parts.append(count(totals.warnings, "warning"))
    if totals.notes:
        parts.append(count(totals.notes, "note"))
    return ", ".join(parts)


def milder(judgement: model.Judgement) -> str:
    """Why the outcome of a finding is milder than its check's; empty if it is not."""
    if not judgement.because:
        return ""
    kind = "a warning" if judgement.outcome is model.Outcome.WARN else "a note"
    return f"{kind} only: {judgement.because}"


def capitalised(text: str) -> str:
    """A sentence with a capital first letter, unless it begins with a name like `nvidia.com/gpu`."""
    return f"{text[0].upper()}{text[1:]}" if _PLAIN_WORD.match(text) else text


def located(problem: findings.Problem) -> str:
    """`jobs/bert.yaml:3:1: the list in [ ] misses a , or its ] before this`"""
    where = f"{problem.source}:{problem.line}:{problem.column}" if problem.line else problem.source
    return f"{where}: {problem.reason}"


def by_reason(entries: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Reasons with their sources, joined if the reason is the same: `pods, nodes and 58 more`.

    Otherwise a cluster in which a user may list little would fill screens with the same sentence.
    """
    grouped: dict[str, dict[str, None]] = {}
    for source, reason in entries:
        grouped.setdefault(reason, {})[source] = None
    for reason, sources in grouped.items():
        names = [*sources]
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield f"{', '.join(names[:_NAMED])}{more}", reason


def sentence(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


_BINARY: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BYTES: Final = frozenset({"memory", "ephemeral-storage"})
_HUGE_PAGES: Final = "hugepages-"


def exact_number(quantity: quantities.Quantity) -> str:
    """The number in decimal digits, without a suffix or an exponent: `64`, `0.5`."""
    return f"{_decimal(quantity):f}"


def readable_number(quantity: quantities.Quantity) -> str:
    """`1,024`, `0.5`."""
    return f"{_decimal(quantity):,f}"


def readable_range(minimum: quantities.Quantity, maximum: quantities.Quantity | None) -> str:
    """`8`, `8 to 64`, `8 or more`."""
    if maximum is None:
        return f"{readable_number(minimum)} or more"
    return (
        readable_number(minimum) if minimum == maximum else f"{readable_number(minimum)} to {readable_number(maximum)}"
    )


def memory_unit(name: str, vocabulary: Vocabulary) -> str:
    """The unit of a resource that counts memory of accelerators: `MiB`. Empty for resources that count devices."""
    if name == names.GPU_MEMORY:
        return "MiB"
    meaning = vocabulary.meaning(name)
    if meaning is None or meaning.unit is not names.Unit.MEMORY or meaning.size is None:
        return ""
    return {names.MIB: "MiB", names.GIB: "GiB"}.get(meaning.size, f"{meaning.size:,} bytes")


def resource_amount(name: str, quantity: quantities.Quantity) -> str:
    """`memory 32Gi`, `cpu 500m`: with the suffixes of manifests, but plain numbers for accelerators."""
    return f"{name} {_shortest_text(name, quantity)}"


def _shortest_text(name: str, quantity: quantities.Quantity) -> str:
    if name not in _BYTES and not name.startswith(_HUGE_PAGES):
        return str(quantity)
    # The manifest may have either suffix; people write the shorter one.
    return min((_binary(quantity), quantities.canonical(str(quantity))), key=len)


def _binary(quantity: quantities.Quantity) -> str:
    if not quantity.is_whole or not quantity:
        return str(quantity)
    amount, suffix = quantity.value, ""
    for each in _BINARY:
        if amount % 1024:
            break
        amount, suffix = amount // 1024, each
    return f"{amount}{suffix}"


def _decimal(quantity: quantities.Quantity) -> Decimal:
    """The decimal without trailing zeros. `normalize` would round it beyond the precision of the context."""
    integer, rest = divmod(quantity.nanos, quantities.NANO)
    return Decimal(f"{integer}.{rest:09d}".rstrip("0").rstrip("."))
