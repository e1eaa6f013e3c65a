"""The report of `usher check` and `usher audit` for programs, as JSON and as YAML. Lines and columns count from 1.

A shape takes its values from one of our objects. A field reads the attribute with its own name, or the one that
`attribute` names; in JSON its name is in camelCase. Documents are the same byte for byte between runs: they do not
depend on the time, the machine or the order of a hash. Within v1alpha1 fields may be added; fields keep their names and
meaning.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from operator import not_
from typing import Annotated, Any, Final, Literal, TextIO

import orjson
from pydantic import AliasGenerator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo
from pydantic.alias_generators import to_camel

from usher import paths
from usher.check import devices as scan_devices
from usher.check import findings
from usher.check.formats import wording
from usher.quantities import Quantity

API_VERSION: Final = "gpu-usher.io/v1alpha1"

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly; only invented numbers of pods come near it."""

_UNLIMITED: Final = 2**31 - 1
"""Columns of YAML: a folded line could begin like a command."""


class Shape(BaseModel):
    """A JSON object."""

    model_config = ConfigDict(
        from_attributes=True, frozen=True, alias_generator=AliasGenerator(serialization_alias=to_camel)
    )


def attribute(*names: str, default: Any = ...) -> Any:  # noqa: ANN401 - stands for the value of any field
    """Reads a field from an attribute with another name, or of an inner value; `default` if it is missing."""
    return Field(default=default, validation_alias=AliasPath(*names))


def write_document(document: Shape, stream: TextIO) -> None:
    """Writes a document with sorted keys, as indented lines."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    text = orjson.dumps(document.model_dump(by_alias=True), option=options).decode()
    stream.write(wording.json_without_commands(text))


def bounded(number: int | None) -> int | None:
    """A number, cut to MAX_INTEGER."""
    return None if number is None else max(-MAX_INTEGER, min(number, MAX_INTEGER))


def _exact(quantity: Quantity | None) -> str | None:
    return None if quantity is None else wording.exact_number(quantity)


def _is_none(value: object) -> bool:
    return value is None


IF_ANY: Final = Field(exclude_if=not_)
"""Leaves a field out if it is empty or 0."""
IF_KNOWN: Final = Field(exclude_if=_is_none)
"""Leaves a field out if it is None."""

TextIfAny = Annotated[str, IF_ANY]
IntegerIfAny = Annotated[int, IF_ANY]
TextIfKnown = Annotated[str | None, IF_KNOWN]
IntegerIfKnown = Annotated[int | None, IF_KNOWN]

Bounded = Annotated[int, BeforeValidator(bounded)]
BoundedOrNull = Annotated[int | None, BeforeValidator(bounded)]
BoundedIfKnown = Annotated[BoundedOrNull, IF_KNOWN]

Exact = Annotated[str, BeforeValidator(_exact)]
"""A quantity in decimal digits, without a suffix: `"64"`, `"0.5"`; memory in bytes, cpu in cores."""
ExactIfKnown = Annotated[str | None, BeforeValidator(_exact), IF_KNOWN]

Readable = Annotated[str, BeforeValidator(paths.readable)]
"""A JSON Pointer in its readable form."""


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the report as one JSON document."""
    write_document(_shaped(found), stream)


def document(found: findings.Report) -> dict[str, Any]:
    """The report as values of JSON."""
    values: dict[str, Any] = orjson.loads(orjson.dumps(_shaped(found).model_dump(by_alias=True)))
    return values


def _shaped(found: findings.Report) -> "Report":
    names = {key: name for each in found.results if each.change is not None for key, name in each.change.names.items()}
    return Report.model_validate(found, context=names)


def _number(number: int | Decimal) -> int | float | None:
    """A double holds a fraction of a device exactly enough; a whole number stays an integer."""
    return bounded(int(number)) if number == int(number) else float(number)


def _name_of(mutation: str, info: ValidationInfo[Mapping[str, str]]) -> str:
    return info.context[mutation]


MutationName = Annotated[str, BeforeValidator(_name_of)]


def _other_than_most(least: int | Decimal, info: ValidationInfo) -> int | float | None:
    number = _number(least)
    return None if number == info.data["number"] else number


class Amount(Shape):
    """`number` is the most, and `least` is there where it differs: a rollout or an autoscaler adds the rest at times.

    `unbounded`: nothing says how many more there may be than `number`.
    """

    number: Annotated[int | float, BeforeValidator(_number)]
    least: Annotated[int | float | None, BeforeValidator(_other_than_most), IF_KNOWN]
    unbounded: bool


class Pods(Shape):
    minimum: Bounded
    maximum: BoundedOrNull
    reason: TextIfAny


class Finding(Shape):
    """`added` is true of a field that the mutating webhook adds; line and column are the nearest place in the file."""

    check: str = attribute("judgement", "finding", "check")
    code: str = attribute("judgement", "code")
    name: str = attribute("judgement", "name")
    outcome: str = attribute("judgement", "outcome")
    path: str = attribute("judgement", "finding", "path")
    field: Readable = attribute("judgement", "finding", "path")
    message: str = attribute("judgement", "finding", "message")
    remedy: TextIfAny = attribute("judgement", "finding", "remedy")
    because: TextIfAny = attribute("judgement", "because")
    pod_set: TextIfAny = attribute("pod_set", "name", default="")
    line: IntegerIfKnown = attribute("place", "line", default=None)
    column: IntegerIfKnown = attribute("place", "column", default=None)
    excerpt: TextIfKnown = attribute("place", "excerpt", "text", default=None)
    added: Annotated[bool, IF_ANY]


class Unknown(Shape):
    """A check that could not be evaluated; without `check`, a part of the object that could not be read."""

    check: TextIfAny = attribute("unknown", "check")
    path: str = attribute("unknown", "path")
    reason: str = attribute("unknown", "reason")
    line: IntegerIfKnown = attribute("place", "line", default=None)
    column: IntegerIfKnown = attribute("place", "column", default=None)


class Intent(Shape):
    mutation: MutationName
    at: str
    field: str
    value: Any
    reason: str


class Skipped(Shape):
    """An intent that was not applied; `warned` is true where the webhook warns of it."""

    mutation: MutationName = attribute("intent", "mutation")
    at: str = attribute("intent", "at")
    field: str = attribute("intent", "field")
    value: Any = attribute("intent", "value")
    reason: str = attribute("intent", "reason")
    skipped_because: str = attribute("reason")
    warned: bool = attribute("warned")


class MutationWarning(Shape):
    mutation: MutationName
    at: str
    reason: str


class Mutation(Shape):
    """`operations` is the JSON Patch with which the webhook would answer."""

    operations: Any = attribute("merged", "operations")
    applied: list[Intent] = attribute("merged", "applied")
    skipped: list[Skipped] = attribute("merged", "skipped")
    conflicts: list[list[Intent]] = attribute("merged", "conflicts")
    warnings: list[MutationWarning] = attribute("merged", "warnings")


class Identity(Shape):
    source: str
    line: IntegerIfAny
    api_version: str = attribute("identity", "api_version")
    kind: str = attribute("identity", "kind")
    namespace: str = attribute("identity", "namespace")
    name: str = attribute("identity", "name")


class Workload(Identity):
    """`outcome` is the worst of the findings; or `exempt`, or `unknown` where a part was not judged, or `clean`."""

    role: str
    pods: Pods
    accelerators: dict[str, Amount]
    outcome: str
    findings: list[Finding]
    unknowns: list[Unknown] = attribute("not_judged")
    exemption: TextIfAny
    mutation: Annotated[Mutation | None, IF_KNOWN] = attribute("change")


class Failure(Identity):
    reason: str


class Problem(Shape):
    source: str
    reason: str
    line: IntegerIfAny
    column: IntegerIfAny


class Note(Shape):
    source: str
    reason: str


class NotEvaluated(Shape):
    check: str
    code: str
    name: str
    reason: str
    workloads: int


Gpus = Annotated[Amount, BeforeValidator(scan_devices.gpus)]


class Summary(Shape):
    files: int
    objects: int
    workloads: int
    pods: Amount
    gpus: Gpus = attribute("accelerators")
    gpus_in_workloads_with_errors: Gpus = attribute("accelerators_with_errors")
    accelerators: dict[str, Amount]
    accelerators_in_workloads_with_errors: dict[str, Amount] = attribute("accelerators_with_errors")
    findings: dict[str, int] = attribute("by_outcome")
    exempt: int
    exemptions: dict[str, int]
    owned: int
    finished: int
    ignored: int


class ExceptionUse(Shape):
    """An exception of usher.yaml; `state` is `used`, `unused` or `expired`."""

    checks: list[str]
    namespaces: list[str]
    ticket: str
    owner: str
    expires: Annotated[str, BeforeValidator(date.isoformat)]
    state: str
    findings: int


class Configuration(Shape):
    """`source` is the file, or `defaults`."""

    source: Annotated[str, BeforeValidator(lambda file: file or "defaults")]
    preset: str


class Report(Shape):
    """`complete` is false where an input could not be read or an object not be judged: then no error proves nothing.

    `checksWithoutFacts` is the number of checks that compare with a cluster and were left out, because no facts about
    one were given.
    """

    api_version: Literal["gpu-usher.io/v1alpha1"] = API_VERSION
    kind: Literal["Report"] = "Report"
    command: str
    version: str
    origin: str
    configuration: Configuration
    admitted: bool
    complete: Annotated[bool, BeforeValidator(not_)] = attribute("failed")
    summary: Summary = attribute("totals")
    workloads: list[Workload] = attribute("results")
    not_evaluated: list[NotEvaluated]
    checks_without_facts: int = attribute("without_facts")
    facts_of_files: dict[str, int]
    keys_not_compared: dict[str, int] = attribute("without_fields")
    exceptions: list[ExceptionUse]
    failures: list[Failure]
    problems: list[Problem]
    notes: list[Note]


def write_yaml(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the report as one YAML document."""
    dump_yaml(document(found), stream)


def dump_yaml(values: Mapping[str, Any], stream: TextIO) -> None:
    """Writes JSON values as one YAML document in which CI systems find no command."""
    # Loaded only here: the other formats do without it.
    import yaml

    class Dumper(yaml.CSafeDumper):
        """Writes repeated values in full: a reader of JSON expects no aliases."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    def write_text(dumper: Dumper, text: str) -> yaml.ScalarNode:
        """A text, in double quotes with escapes if a CI system could find a command in it."""
        harmless = text.isprintable() and "::" not in text and wording.without_commands(text) == text
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if harmless else '"')

    Dumper.add_representer(str, write_text)
    text = yaml.dump(values, Dumper=Dumper, sort_keys=True, allow_unicode=True, width=_UNLIMITED)
    # The JSON escape is also a YAML escape.
    stream.write(wording.json_without_commands(text))
