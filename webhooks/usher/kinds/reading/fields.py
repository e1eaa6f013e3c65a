"""The fields of kinds: recorded ones, and those of CustomResourceDefinitions in files and facts.

`fields.json.gz` has the fields of Kubernetes' own kinds and of those of operators. tools/record_fields.py writes it
from the OpenAPI of an API server and from CustomResourceDefinitions. So does `limits.json.gz` with their limits.
"""

import gzip
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from usher import memo, paths
from usher.accelerators import device_selectors
from usher.documents.cel import NotEvaluated

FILE: Final = Path(__file__).with_name("fields.json.gz")
LIMITS_FILE: Final = Path(__file__).with_name("limits.json.gz")

_REPLICA_TYPES: Final[Mapping[str, str]] = {
    "jaxReplicaSpecs": "Worker",
    "mpiReplicaSpecs": "Launcher Worker",
    "paddleReplicaSpecs": "Master Worker",
    "pytorchReplicaSpecs": "Master Worker",
    "tfReplicaSpecs": "Chief Evaluator Master PS Worker",
    "xgbReplicaSpecs": "Master Worker",
}
"""The keys of maps that take no others, in their own case or small: pkg/apis/kubeflow.org/v1/*_types.go of
github.com/kubeflow/training-operator.
"""

Node = Mapping[str, Any]
"""The fields of one object, each with the number of its own node: 0 takes anything, and a list has a negative number.
MAP stands for every key of a map, and REQUIRED has the fields that must exist. Another value has a node
with TYPE alone: its JSON type, or the texts that it may be.
"""

MAP: Final = "*"
REQUIRED: Final = "!"
TYPE: Final = "="

TAKES_ANYTHING: Final = 0
_OPEN: Final = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string")
_JSON_TYPES: Final[Mapping[str, type]] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict,
}  # fmt: skip

Leaf = type | frozenset[str]
"""A Python type, or the texts that a value may be."""


class Fields:
    """Nodes of schemas, equal ones once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [{}]
        self.metadata = TAKES_ANYTHING
        """The node of the metadata of objects, which definitions leave out."""
        self.pod_spec = TAKES_ANYTHING
        """The node of Kubernetes' own pod spec. Definitions copy it and leave out which texts its fields take."""
        self._numbers: dict[tuple[tuple[str, Any], ...], int] = {}

    def of_definition(self, definition: Mapping[str, Any]) -> dict[str, int]:
        """The nodes of the kind of a CustomResourceDefinition, by apiVersion and kind."""
        spec = definition["spec"]
        found = {}
        for version in spec["versions"]:
            # Until apiextensions.k8s.io/v1 all versions could share a schema, or have no schema and keep all keys.
            written = version.get("schema") or spec.get("validation") or {}
            schema = written.get("openAPIV3Schema") or {"x-kubernetes-preserve-unknown-fields": True}
            properties = {"apiVersion": {}, "kind": {}, **(schema.get("properties") or {})}
            number = self.of_schema({**schema, "properties": properties})
            if number != TAKES_ANYTHING:
                number = self.number({**self.nodes[number], "metadata": self.metadata})
            found[f"{spec['group']}/{version['name']} {spec['names']['kind']}"] = number
        return found

    def of_schema(self, schema: Any) -> int:  # noqa: ANN401 - OpenAPI as its author wrote it
        """The node of an OpenAPI schema without references."""
        if not isinstance(schema, dict) or any(schema.get(each) for each in _OPEN):
            return TAKES_ANYTHING
        if "items" in schema:
            below = self.of_schema(schema["items"])
            return -below if below > 0 else self.number({TYPE: "array"})
        if properties := schema.get("properties"):
            node = {name: self._of_property(name, each) for name, each in properties.items()}
            expected = (
                "containers",
                "jobTemplate",
                "template",
                *(("spec",) if node.keys() == {"metadata", "spec"} else ()),
            )
            required = [name for name in expected if name in schema.get("required", ())]
            number = self.number({**node, REQUIRED: required} if required else node)
            is_pod_spec = {"containers", "tolerations", "restartPolicy"} <= node.keys()
            return self._with_texts(number, self.pod_spec) if is_pod_spec and self.pod_spec else number
        below = self.of_schema(schema.get("additionalProperties"))
        return self.number({MAP: below}) if below else self._of_value(schema)

    def _of_property(self, name: str, schema: Any) -> int:  # noqa: ANN401 - OpenAPI as its author wrote it
        number = self.of_schema(schema)
        if name not in _REPLICA_TYPES or number <= 0 or MAP not in self.nodes[number]:
            return number
        types = _REPLICA_TYPES[name].split()
        return self.number(dict.fromkeys([*types, *map(str.lower, types)], self.nodes[number][MAP]))

    def _of_value(self, schema: Mapping[str, Any]) -> int:
        kind, texts = schema.get("type"), schema.get("enum")
        if kind not in _JSON_TYPES or schema.get("format") == "int-or-string":
            return TAKES_ANYTHING
        if kind == "string" and isinstance(texts, list) and texts and all(isinstance(each, str) for each in texts):
            return self.number({TYPE: sorted(texts)})
        return self.number({TYPE: kind})

    def _with_texts(self, number: int, known: int) -> int:
        """The node of a definition with the texts that the fields of a known node take."""
        if number < 0 and known < 0:
            return -self._with_texts(-number, -known)
        if number <= 0 or known <= 0:
            return number
        node, pattern = self.nodes[number], self.nodes[known]
        if TYPE in node:
            return known if node[TYPE] == "string" and isinstance(pattern.get(TYPE), list) else number
        both = {name: self._with_texts(node[name], pattern[name]) for name in node.keys() & pattern.keys() - {REQUIRED}}
        return self.number({**node, **both})

    def take_texts(self, first: int = 1) -> None:
        """Gives nodes that are like a part of a pod spec (tolerations, containers, volumes) the texts of its fields.

        Args:
            first: the first of the nodes that may be like one.
        """
        policy = self.nodes[abs(self.nodes[abs(self.pod_spec)]["containers"])]["imagePullPolicy"]
        for number in range(first, len(self.nodes)):
            node = self.nodes[number]
            written = [key for key in _PULL_POLICIES if self._type_of(node.get(key)) == "string"]
            self.nodes[number] = {**node, **dict.fromkeys(written, policy)} if written else node
        parts = [self.nodes[number] for number in _below(self.pod_spec, self.nodes)]
        for part in parts:
            texts = {name: each for name, each in part.items() if isinstance(self._type_of(each), list)}
            for number in range(first, len(self.nodes)) if texts else ():
                node = self.nodes[number]
                if len(node.keys() & part.keys()) < _LIKE * max(len(node), len(part)):
                    continue
                taken = {
                    name: each
                    for name, each in texts.items()
                    if node.get(name, 0) * each > 0 and self._type_of(node[name]) == "string"
                }
                if taken:
                    self.nodes[number] = {**node, **taken}

    def _type_of(self, number: object) -> object:
        return self.nodes[abs(number)].get(TYPE) if isinstance(number, int) and number else None

    def number(self, node: Node) -> int:
        """The number of a node."""
        key = tuple((name, tuple(each) if isinstance(each, list) else each) for name, each in sorted(node.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[key]


_LIKE: Final = 0.6
"""The share of common fields from which on two nodes are the same part of a pod spec."""


def _below(number: int, nodes: Sequence[Node]) -> set[int]:
    """The numbers of a node and of all nodes below it that have fields."""
    found, left = set[int](), [number]
    while left:
        each = abs(left.pop())
        if each and each not in found and TYPE not in nodes[each]:
            found.add(each)
            left += [below for name, below in nodes[each].items() if name != REQUIRED]
    return found


_PULL_POLICIES: Final = ("imagePullPolicy", "pullPolicy")
_PARTS_OF_PODS: Final = ("tolerations", "affinity", "topologySpreadConstraints")
_PARTS_OF_CONTAINERS: Final = ("env", "envFrom", "volumeMounts", *_PULL_POLICIES)


Limit = Mapping[str, Any]
"""The demands of a schema on a value beyond its type, in words of OpenAPI.

`properties`, `items` and `*` have the numbers of further limits, `rules` have pairs of a rule in CEL and its message,
and `keys` are those by which the objects of a list differ, or empty for its values. `omitted` stands for a field
that an empty value does not set.
"""
NO_LIMIT: Final = 0
_NUMBERS: Final = (int, float)
_ASKED: Final[Mapping[str, tuple[type, ...]]] = {
    "pattern": (str,), "minimum": _NUMBERS, "maximum": _NUMBERS,
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), (bool,)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), (int,)),
}  # fmt: skip
_ZERO: Final[Mapping[str, Any]] = {"string": "", "integer": 0, "number": 0.0, "boolean": False, "object": {}}
_RULES: Final = "x-kubernetes-validations"
_OTHER_IN_CEL: Final = frozenset({"byte", "date", "date-time", "datetime", "duration"})
"""Formats of texts that CEL reads as other values."""
_WORDS: Final = memo.pattern(r"\w+")


class Limits:
    """Limits of schemas, equal ones once."""

    def __init__(self) -> None:
        self.found: list[Limit] = [{}]
        self.filled = False
        """Whether a mutating webhook of the operator writes each required field that an object lacks, and takes away
        each other one that is empty or 0, as Go does.
        """
        self._numbers: dict[str, int] = {}

    def of_definition(self, definition: Mapping[str, Any]) -> dict[str, int]:
        """The limits of the kind of a CustomResourceDefinition, by apiVersion and kind."""
        spec = definition["spec"]
        found = {}
        for version in spec["versions"]:
            written = (version.get("schema") or spec.get("validation") or {}).get("openAPIV3Schema") or {}
            # An API server drops the status of a new object, and checks metadata in its own way.
            own = {
                name: each
                for name, each in (written.get("properties") or {}).items()
                if name not in ("status", "metadata", "apiVersion", "kind")
            }
            required = [name for name in _texts(written.get("required")) if name in own]
            number = self.of_schema({**written, "properties": own, "required": required})
            found[f"{spec['group']}/{version['name']} {spec['names']['kind']}"] = number
        return found

    def of_schema(
        self,
        schema: Any,  # noqa: ANN401 - OpenAPI as its author wrote it
        read: frozenset[str] = frozenset(),
        *,
        kept: bool = False,
        needed: bool = False,
    ) -> int:
        """The number of the limits of a schema.

        Args:
            schema: the schema.
            read: the words of the rules above it.
            kept: whether its default counts, because the field is read.
            needed: whether the field is required.
        """
        if not isinstance(schema, dict):
            return NO_LIMIT
        limit = {
            name: each for name, kind in _ASKED.items() if type(each := schema.get(name)) in kind and each is not False
        }
        known = () if schema.get("type") == "string" else (schema,)  # texts are part of the type
        for each in (*known, *(schema.get("allOf") or ())):
            if isinstance(each, dict) and isinstance(each.get("enum"), list):
                limit["enum"] = each["enum"]
        if kept and (default := self._default(schema, needed=needed)) is not None:
            limit["default"] = default
        if read and schema.get("type") == "number":
            limit["type"] = "number"
        if limit and self.filled and not needed:
            limit["omitted"] = True
        properties = schema.get("properties") or {}
        rules = [[each["rule"], _message(each)] for each in schema.get(_RULES) or () if can_evaluate(each["rule"])]
        rules = [each for each in rules if not _reads_others(each[0], properties)]
        if rules:
            limit["rules"] = rules
            read |= {word for rule, _ in rules for word in _WORDS.findall(rule)}
        return self._with_parts(schema, limit, read)

    def _with_parts(self, schema: Mapping[str, Any], limit: dict[str, Any], read: frozenset[str]) -> int:
        properties, items = schema.get("properties") or {}, schema.get("items")
        needed = _texts(schema.get("required"))
        if required := [name for name in needed if self._default(properties.get(name) or {}, needed=True) is None]:
            limit["required"] = required
        keys = _texts(schema.get("x-kubernetes-list-map-keys"))
        if schema.get("x-kubernetes-list-type") in ("map", "set"):
            limit["keys"] = keys
        below = {
            name: self.of_schema(each, read, kept=name in read, needed=name in needed)
            for name, each in properties.items()
        }
        if below := {name: number for name, number in below.items() if number}:
            limit["properties"] = below
        if isinstance(items, dict) and (number := self.of_schema(items, read.union(keys))):
            limit["items"] = number
        if number := self.of_schema(schema.get("additionalProperties"), read):
            limit["*"] = number
        return self.number(limit) if limit else NO_LIMIT

    def _default(self, schema: Mapping[str, Any], *, needed: bool = False) -> Any:  # noqa: ANN401 - any JSON
        """The value that a field gets before the API server looks; None without one."""
        zero = _ZERO.get(str(schema.get("type"))) if needed and self.filled and "enum" not in schema else None
        is_refused = schema.get("minLength") or schema.get("minimum") or "pattern" in schema
        return schema.get("default", None if is_refused else zero)

    def number(self, limit: Limit) -> int:
        """The number of a limit."""
        key = repr(sorted(limit.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.found)
            self.found.append(limit)
        return self._numbers[key]


def _texts(values: object) -> list[str]:
    return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []


def _message(rule: Mapping[str, Any]) -> str:
    """The message of a rule; one that is an expression has values in it, so it is left out."""
    return " ".join(str(rule.get("message") or "").split())


def can_evaluate(rule: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether usher evaluates a rule: one of `oldSelf` compares with an earlier object."""
    if not isinstance(rule, str) or "oldSelf" in rule or "__" in rule:
        return False
    try:
        device_selectors.rule(rule)
    except NotEvaluated:
        return False
    return True


def _reads_others(rule: str, properties: Mapping[str, Any]) -> bool:
    """Whether a rule reads the status, or a text that is a moment or a duration in CEL."""
    words = set(_WORDS.findall(rule))
    return "status" in words or any(
        name in words and isinstance(each, dict) and each.get("format") in _OTHER_IN_CEL
        for name, each in properties.items()
    )


class Known(NamedTuple):
    """All nodes, those of values other than objects, and the number of the node of each `apiVersion kind`."""

    nodes: Sequence[Node]
    leaves: Mapping[int, Leaf]
    kinds: Mapping[str, int]
    kept: frozenset[str]
    """Kinds whose usual definition has no fields, so that the API server keeps unknown ones."""

    def node_inside(self, value: Mapping[str, Any]) -> int:
        """The node of an object or a pod spec inside a value that may be anything; 0 for others."""
        api_version, kind = value.get("apiVersion"), value.get("kind")
        if isinstance(api_version, str) and isinstance(kind, str):
            # A definition of an operator may be older or newer than the one that its wrapper was written for.
            return self.kinds.get(f"{api_version} {kind}", 0) if "spec" in value else 0
        containers = value.get("containers")
        is_pod_spec = (
            isinstance(containers, list)
            and containers
            and all(isinstance(each, dict) and "name" in each and "image" in each for each in containers)
        )
        pod = self.kinds.get("v1 Pod")
        return self.nodes[pod]["spec"] if is_pod_spec and pod is not None else 0

    @property
    def pod_template(self) -> int:
        """The node of a pod template of Kubernetes."""
        number: int = self.nodes[self.nodes[self.kinds["apps/v1 Deployment"]]["spec"]]["template"]
        return number

    def node_at(self, number: int, pointer: str) -> int | None:
        """The number of the node at a place below a node; None if the definition lacks the field."""
        for key in paths.split(pointer):
            if not number:
                return TAKES_ANYTHING
            if number < 0:
                number = -number
            elif number in self.leaves:
                return TAKES_ANYTHING if self.leaves[number] is dict else number
            else:
                node = self.nodes[number]
                found = node.get(MAP, node.get(key))
                if found is None:
                    return None
                number = found
        return number

    def is_open_at(self, number: int, pointer: str) -> bool:
        """Whether a definition takes anything at a place below a node."""
        return not self.node_at(number, pointer)

    def part_of_pods(self, key: str, value: Any) -> int:  # noqa: ANN401 - any JSON
        """The node of a field that means the same in all objects, inside a value that may be anything; 0 for others."""
        if key not in _PARTS_OF_PODS and key not in _PARTS_OF_CONTAINERS:
            return TAKES_ANYTHING
        pod = self.nodes[self.nodes[self.kinds["v1 Pod"]]["spec"]]
        number: int = (
            pod[key]
            if key in _PARTS_OF_PODS
            else self.nodes[-pod["containers"]][key.replace("pullPolicy", "imagePullPolicy")]
        )
        fields = self.nodes[abs(number)].keys()
        parts = value if isinstance(value, list) else [value]
        if TYPE in fields:
            return number if isinstance(value, str) else TAKES_ANYTHING
        is_one = isinstance(value, list) == (number < 0) and all(
            isinstance(each, dict) and not fields.isdisjoint(each) for each in parts
        )
        return number if is_one else TAKES_ANYTHING


def leaves_of(nodes: Sequence[Node]) -> dict[int, Leaf]:
    """The nodes of values other than objects."""
    return {
        number: frozenset(found) if isinstance(found, list) else _JSON_TYPES[found]
        for number, node in enumerate(nodes)
        if (found := node.get(TYPE)) is not None
    }


_OF_OTHER_RELEASES: Final[Mapping[str, str]] = {
    # From Kubernetes 1.37 on (API:batch/v1/types.go), and of 1.35 alone (API:core/v1/types.go of v0.35.0).
    "batch/v1 Job": "spec.scheduling",
    "v1 Pod": "spec.workloadRef",
    # Of v0.1 to v0.4 of volcano-sh/kthena, in charts/kthena/charts/workload/crds.
    "workload.serving.volcano.sh/v1alpha1 AutoscalingPolicy": "spec.metrics.metricName",
    "workload.serving.volcano.sh/v1alpha1 ModelBooster": "spec.autoscalingPolicy spec.backend.maxReplicas "
    "spec.backend.minReplicas spec.backends spec.costExpansionRatePercent",
    "workload.serving.volcano.sh/v1alpha1 ModelServing": "spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge "
    "spec.template.networkTopology.highestTierAllowed spec.template.networkTopology.mode "
    "spec.topologySpreadConstraints",
    # Of v0.2 and v0.4 of vllm-project/aibrix, in config/crd.
    "orchestration.aibrix.ai/v1alpha1 KVCache": "spec.cacheSpec spec.etcdReplicas spec.replicas spec.service.nodePort "
    "spec.service.port",
    "orchestration.aibrix.ai/v1alpha1 RoleSet": "spec.schedulingStrategy.podGroup",
    "orchestration.aibrix.ai/v1alpha1 StormService": "spec.template.spec.schedulingStrategy.podGroup",
}
"""Fields that the recorded definitions lack, because another release of the project has them: in any form."""


@cache
def recorded() -> Known:
    """The recorded fields, read when the first object needs them."""
    read = orjson.loads(gzip.decompress(FILE.read_bytes()))
    for kind, names in _OF_OTHER_RELEASES.items():
        for name in names.split():
            *way, last = name.split(".")
            node = read["nodes"][read["kinds"][kind]]
            for each in way:
                node = read["nodes"][abs(node[each])]
            node[last] = TAKES_ANYTHING
    return Known(read["nodes"], leaves_of(read["nodes"]), read["kinds"], frozenset(read["kept"]))


class KnownLimits(NamedTuple):
    """All limits, the number of the one of each `apiVersion kind`, and where that is recorded from."""

    found: Sequence[Limit]
    kinds: Mapping[str, int]
    origins: Mapping[str, str]
    """A repository with a commit; a kind without one is as sure as the API server itself."""


@cache
def recorded_limits() -> KnownLimits:
    """The recorded limits, read when the first object needs them."""
    read = orjson.loads(gzip.decompress(LIMITS_FILE.read_bytes()))
    return KnownLimits(read["limits"], read["kinds"], read["origins"])


def limits_of(value: paths.Object, definitions: Iterable["Definitions"]) -> tuple[KnownLimits, int]:
    """The limits of the kind of an object, by the first definition that has it, else recorded ones."""
    api_version, kind = paths.text(value.get("apiVersion")), paths.text(value.get("kind"))
    for each in definitions:
        if (found := each.limits(api_version, kind)) is not None:
            return found, found.kinds.get(f"{api_version} {kind}", NO_LIMIT)
    known = recorded_limits()
    return known, known.kinds.get(f"{api_version} {kind}", NO_LIMIT)


class Definitions:
    """CustomResourceDefinitions of files or facts, each read when an object of its kind needs it."""

    def __init__(self, definitions: Iterable[paths.Object]) -> None:
        self._definitions = {kind: each for each in definitions if (kind := _kind_defined(each))}
        self._made: dict[str, tuple[Known, Mapping[str, int]] | None] = {}
        self._limits: dict[str, KnownLimits] = {}

    def __bool__(self) -> bool:
        return bool(self._definitions)

    def find(self, api_version: str, kind: str) -> tuple[Known, int] | None:
        """The nodes with the number of the node of a kind; None if no definition that usher can read has it."""
        key = f"{api_version.rpartition('/')[0]} {kind}"
        if key not in self._definitions:
            return None
        if key not in self._made:
            self._made[key] = self._nodes_of(self._definitions[key])
        made = self._made[key]
        number = made[1].get(f"{api_version} {kind}") if made else None
        return None if made is None or number is None else (made[0], number)

    def limits(self, api_version: str, kind: str) -> KnownLimits | None:
        """The limits of a kind; None if no definition has it, and no limits if usher cannot read it."""
        key = f"{api_version.rpartition('/')[0]} {kind}"
        if key in self._definitions and key not in self._limits:
            limits = Limits()
            try:
                kinds = limits.of_definition(self._definitions[key])
            except (KeyError, TypeError, AttributeError, RecursionError):
                kinds = {}
            self._limits[key] = KnownLimits(limits.found, kinds, {})
        return self._limits.get(key)

    def _nodes_of(self, definition: paths.Object) -> tuple[Known, Mapping[str, int]] | None:
        known = recorded()
        fields = Fields()
        fields.nodes = list(known.nodes)
        fields.metadata = known.nodes[known.kinds["v1 Pod"]]["metadata"]
        fields.pod_spec = known.nodes[known.kinds["v1 Pod"]]["spec"]
        try:
            found = fields.of_definition(definition)
            fields.take_texts(len(known.nodes))
        except (KeyError, TypeError, AttributeError):
            return None
        kept = {key for key, number in found.items() if not fields.nodes[number].get("spec", 1)}
        return Known(fields.nodes, leaves_of(fields.nodes), known.kinds, frozenset(kept)), found


def _kind_defined(definition: paths.Object) -> str:
    spec = definition.get("spec")
    names_of_kind = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names_of_kind, dict):
        return ""
    return f"{paths.text(spec.get('group'))} {paths.text(names_of_kind.get('kind'))}"
