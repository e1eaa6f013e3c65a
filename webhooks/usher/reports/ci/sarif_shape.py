"""The parts of SARIF 2.1.0 that usher writes, with the names of the standard.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from typing import Literal, NotRequired, TypedDict

Severity = Literal["none", "note", "warning", "error"]


class Message(TypedDict):
    text: str
    markdown: NotRequired[str]


class ArtifactLocation(TypedDict):
    uri: str


class Region(TypedDict):
    startLine: int
    startColumn: NotRequired[int]
    endLine: int
    endColumn: NotRequired[int]


class PhysicalLocation(TypedDict):
    artifactLocation: ArtifactLocation
    region: NotRequired[Region]


class LogicalLocation(TypedDict):
    kind: str
    fullyQualifiedName: str
    name: NotRequired[str]


class Location(TypedDict):
    physicalLocation: NotRequired[PhysicalLocation]
    logicalLocations: NotRequired[list[LogicalLocation]]


class Configuration(TypedDict):
    level: Severity
    rank: float


Properties = TypedDict(
    "Properties",
    {
        "tags": list[str],
        "problem.severity": Literal["error", "warning", "recommendation"],
        "security-severity": NotRequired[str],
    },
)


class Rule(TypedDict):
    id: str
    name: str
    shortDescription: Message
    fullDescription: Message
    help: Message
    helpUri: NotRequired[str]
    defaultConfiguration: NotRequired[Configuration]
    properties: NotRequired[Properties]


class Suppression(TypedDict):
    kind: Literal["external"]
    status: Literal["accepted"]
    justification: str


class Result(TypedDict):
    ruleId: str
    ruleIndex: int
    level: Severity
    message: Message
    locations: list[Location]
    partialFingerprints: dict[str, str]
    suppressions: NotRequired[list[Suppression]]


class RuleReference(TypedDict):
    id: str


class Notification(TypedDict):
    level: Severity
    message: Message
    locations: NotRequired[list[Location]]
    associatedRule: NotRequired[RuleReference]


class Invocation(TypedDict):
    executionSuccessful: bool
    exitCode: NotRequired[int]
    exitCodeDescription: NotRequired[str]
    toolExecutionNotifications: list[Notification]


class Driver(TypedDict):
    name: str
    version: str
    semanticVersion: str
    rules: list[Rule]


class Tool(TypedDict):
    driver: Driver


class Run(TypedDict):
    tool: Tool
    invocations: list[Invocation]
    columnKind: Literal["unicodeCodePoints"]
    results: list[Result]


Log = TypedDict("Log", {"$schema": str, "version": Literal["2.1.0"], "runs": list[Run]})
