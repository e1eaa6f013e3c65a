"""Writes the fields of all kinds that usher compares manifests with: webhooks/usher/kinds/reading/fields.json.gz.

    kubectl get --raw /openapi/v2 > openapi.json
    tools/record_fields.py --openapi openapi.json swagger.json --crds FOLDER_OF_DEFINITIONS
    tools/record_fields.py --crds FOLDER_OF_DEFINITIONS --schema FILE DEFINITION VERSION KIND
    tools/record_fields.py --openapi openapi.json --limits FOLDER_OF_DEFINITIONS REPOSITORY@COMMIT --limits ...

The first file gives Kubernetes' own kinds, in the version of that API server; further ones, as `api/openapi-spec` of
github.com/kubernetes/kubernetes, add versions that it does not serve. The folders give those of operators.
The result has each set of fields once, however many kinds share it. CapacityQuota has the fields of GKE's reference
(docs.cloud.google.com/kubernetes-engine/docs/reference/crds/capacityquota), and LeaderWorkerSet has `spec.scheduling`
of a later version (kubernetes-sigs/lws#1075). Left out: KAI-Scheduler's Config, because kubeconfigs have the same kind,
and GKE's ComputeClass, whose published definitions lack fields that its reference has.

Without --openapi the recorded kinds stay, and those of the definitions are added. --schema takes one kind of a document
of schemas: KubeVirt's from api/openapi-spec/swagger.json (d923fdb), eksctl's ClusterConfig from
pkg/apis/eksctl.io/v1alpha5/assets/schema.json (99984ad), whose identityProviders lack fields and take anything here.
Added in this way, too: the NodeClasses of AWS (1d92708) and Azure (352646f), NodeOverlays (2266468), CapacityBuffers,
kinds of machines of Cluster API (ae7ff04), networks and policies of Mellanox/network-operator (b06827e, and before
63c7ea6, which had ipamPlugin), sriov-network-operator (249e200), nvidia-k8s-ipam (3ce4a34) and gke-networking-api
(34c617f).

--limits writes webhooks/usher/kinds/reading/limits.json.gz again: what definitions ask of values beyond types, and what
tools/kubernetes_limits.yaml says of Kubernetes' own kinds. Name each folder with its repository and commit.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import yaml

from usher.cli.manifests import QUOTA_DEFINITION
from usher.kinds.reading import fields

_SKIPPED: Final = frozenset(
    {"DeleteOptions", "WatchEvent", "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"}
)
_ANY_SCALAR: Final = frozenset({"Quantity", "IntOrString"})
"""Types that take numbers although the OpenAPI says string."""


_WITHOUT_WEBHOOK: Final = frozenset({
    "Azure/karpenter-provider-azure", "NVIDIA/gpu-operator", "NVIDIA/k8s-dra-driver-gpu", "aws/karpenter-provider-aws",
    "flux-framework/flux-operator", "kedacore/keda", "kubeflow/mpi-operator", "kubernetes-sigs/karpenter",
    "kubernetes-sigs/gateway-api-inference-extension", "prometheus-operator/prometheus-operator",
    "ray-project/kuberay", "run-ai/karta", "sgl-project/rbg", "vllm-project/production-stack",
})  # fmt: skip
"""Projects without a webhook that changes their objects. A webhook in Go writes each field without `omitempty`, and the
API server compares the object with its definition only afterwards.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openapi", type=Path, default=[], nargs="+")
    parser.add_argument("--crds", type=Path, default=[], nargs="+")
    parser.add_argument("--schema", action="append", default=[], nargs=4)
    parser.add_argument("--limits", action="append", default=[], nargs=2)
    arguments = parser.parse_args()
    documents = [json.loads(file.read_bytes()) for file in arguments.openapi]
    if arguments.limits:
        record_limits(documents[0]["definitions"], [(Path(folder), origin) for folder, origin in arguments.limits])
        return
    recorded = Recorded()
    version = documents[0]["info"]["version"] if documents else recorded.take_earlier()
    first = len(recorded.fields.nodes) if not documents else 1
    for each in documents:
        recorded.add_kubernetes(each["definitions"])
    for file, name, api_version, kind in arguments.schema:
        recorded.add_schema(json.loads(Path(file).read_bytes())["definitions"], name, f"{api_version} {kind}")
    for definition in (
        *chain.from_iterable(map(_definitions, arguments.crds)),
        *([yaml.safe_load(QUOTA_DEFINITION.read_text())] if documents else []),
    ):
        recorded.add_definition(definition)
    recorded.fields.take_texts(first)
    result = {
        "kubernetes": version,
        "nodes": recorded.fields.nodes,
        "kinds": dict(sorted(recorded.kinds.items())),
        "kept": sorted(recorded.kept),
    }
    text = json.dumps(result, separators=(",", ":"), sort_keys=True).encode()
    fields.FILE.write_bytes(gzip.compress(text, mtime=0))


def record_limits(kubernetes: Mapping[str, Any], folders: Sequence[tuple[Path, str]]) -> None:
    """Writes the limits of Kubernetes' own kinds, and of all definitions of folders with where these come from."""
    limits, origins = fields.Limits(), dict[str, str]()
    kinds = _limits_of_kubernetes(kubernetes, limits)
    for folder, origin in folders:
        limits.filled = origin.partition("@")[0] not in _WITHOUT_WEBHOOK
        for definition in _definitions(folder):
            found = {key: number for key, number in limits.of_definition(definition).items() if number}
            kinds.update(found)
            origins.update(dict.fromkeys(found, origin))
    result = {"limits": limits.found, "kinds": kinds, "origins": origins}
    text = json.dumps(result, separators=(",", ":"), sort_keys=True).encode()
    fields.LIMITS_FILE.write_bytes(gzip.compress(text, mtime=0))


_KUBERNETES_LIMITS: Final = Path(__file__).with_name("kubernetes_limits.yaml")
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_WORD: Final = "([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "label": {"pattern": f"^({_LABEL})?$", "maxLength": 63},
    "subdomain": {"pattern": f"^({_SUBDOMAIN})?$", "maxLength": 253},
    "key": {"pattern": f"^({_SUBDOMAIN}/)?{_WORD}$"},
    "value": {"pattern": f"^{_WORD}$", "maxLength": 63},
}
"""Forms of texts; an empty text sets no value."""


def _asked(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - YAML
    """The bounds of a range, texts or a form, in the words of OpenAPI."""
    if isinstance(value, list):
        return {"allOf": [{"enum": value}]}
    if value in _FORMS:
        return _FORMS[value]
    least, _, most = value.partition("..")
    return {"minimum": int(least), **({"maximum": int(most)} if most else {})}


def _limits_of_kubernetes(definitions: Mapping[str, Any], limits: fields.Limits) -> dict[str, int]:
    rows = yaml.safe_load(_KUBERNETES_LIMITS.read_bytes())

    def resolved(schema: Mapping[str, Any], above: tuple[str, ...]) -> Mapping[str, Any]:
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        if name in above:
            return {}
        if not name:
            return {key: resolved(schema[key], above) for key in ("items", "additionalProperties") if key in schema}
        row = rows.get(name.removeprefix("io.k8s.api.").removeprefix("io.k8s.apimachinery.pkg.apis."), {})
        found = {}
        for key, each in definitions[name].get("properties", {}).items():
            once = row.get("once", {}).get(key)
            lists = (
                {} if once is None else {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": once.split()}
            )
            asked = _asked(row["values"][key]) if key in row.get("values", {}) else {}
            found[key] = {**resolved(each, (*above, name)), **lists, **asked}
        return {"properties": found, "required": row.get("required", "").split()}

    result = {}
    for name, schema in sorted(definitions.items()):
        for each in schema.get("x-kubernetes-group-version-kind", ()):
            if "metadata" in schema.get("properties", {}):
                whole = resolved({"$ref": f"#/{name}"}, ())
                top = {key: below for key, below in whole["properties"].items() if key not in ("metadata", "status")}
                version = f"{each['group']}/{each['version']}".strip("/")
                result[f"{version} {each['kind']}"] = limits.of_schema({**whole, "properties": top})
    return {key: number for key, number in result.items() if number}


def _definitions(folder: Path) -> Iterator[Mapping[str, Any]]:
    for file in sorted(folder.rglob("*.yaml")):
        for value in yaml.load_all(file.read_bytes(), yaml.CSafeLoader):
            if isinstance(value, dict) and value.get("kind") == "CustomResourceDefinition":
                yield value


class Recorded:
    """The fields of Kubernetes' own kinds."""

    def __init__(self) -> None:
        self._definitions: Mapping[str, Any] = {}
        self.fields = fields.Fields()
        self.kinds: dict[str, int] = {}
        self.kept: set[str] = set()
        """Kinds with a definition that has no fields, so that the API server keeps unknown ones."""

    def take_earlier(self) -> str:
        """Takes the recorded kinds, and gives its version of Kubernetes."""
        earlier = json.loads(gzip.decompress(fields.FILE.read_bytes()))
        self.fields.nodes = earlier["nodes"]
        self.kinds, self.kept = earlier["kinds"], set(earlier["kept"])
        pod = self.fields.nodes[self.kinds["v1 Pod"]]
        self.fields.metadata, self.fields.pod_spec = pod["metadata"], pod["spec"]
        return str(earlier["kubernetes"])

    def add_schema(self, definitions: Mapping[str, Any], name: str, key: str) -> None:
        """Adds the kind of one schema of a document."""
        self._definitions = definitions
        node = self.fields.nodes[self._of(name)]
        metadata = self.fields.metadata if "spec" in node else node["metadata"]
        self.kinds[key] = self.fields.number({**node, "metadata": metadata})

    def add_definition(self, definition: Mapping[str, Any]) -> None:
        """Adds the kinds of a definition. Of several for one kind, as of several releases, all fields count."""
        for key, number in self.fields.of_definition(definition).items():
            if (earlier := self.kinds.get(key)) is not None:
                specs = {self.fields.nodes[each].get("spec", 0) for each in (earlier, number)}
                self.kept |= {key} if 0 in specs and len(specs) > 1 else set()
            self.kinds[key] = number if earlier is None else self.merged(earlier, number)

    def merged(self, one: int, other: int) -> int:
        """A node with the fields of both; a node that takes anything adds nothing to an object."""
        nodes = self.fields.nodes
        if one == other or not one or not other:
            number = one or other
            return number if one == other or fields.TYPE not in nodes[abs(number)] else 0
        if one < 0 and other < 0:
            return -self.merged(-one, -other)
        if one < 0 or other < 0 or fields.TYPE in nodes[one].keys() | nodes[other].keys():
            return 0
        required = [
            each for each in nodes[one].get(fields.REQUIRED, ()) if each in nodes[other].get(fields.REQUIRED, ())
        ]
        both = {
            name: self.merged(nodes[one].get(name, 0), nodes[other].get(name, 0))
            for name in nodes[one].keys() | nodes[other].keys() - {fields.REQUIRED}
            if name != fields.REQUIRED
        }
        return self.fields.number({**both, fields.REQUIRED: required} if required else both)

    def add_kubernetes(self, definitions: Mapping[str, Any]) -> None:
        """Adds the kinds of one OpenAPI document that no earlier one has."""
        self._definitions = definitions
        if not self.fields.pod_spec:
            self.fields.metadata = self._of("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
            self.fields.pod_spec = self._of("io.k8s.api.core.v1.PodSpec")
        for name, schema in sorted(definitions.items()):
            for each in schema.get("x-kubernetes-group-version-kind", ()):
                kind = each["kind"]
                if kind in _SKIPPED or kind.endswith("List") or "metadata" not in schema.get("properties", {}):
                    continue
                version = f"{each['group']}/{each['version']}" if each["group"] else each["version"]
                if f"{version} {kind}" not in self.kinds:
                    self.kinds[f"{version} {kind}"] = self._of(name)

    def _of(self, name: str) -> int:
        return self.fields.of_schema(self._resolved({"$ref": f"#/definitions/{name}"}))

    def _resolved(self, schema: Mapping[str, Any], above: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """A schema without references; one that holds itself takes anything."""
        if reference := schema.get("$ref"):
            name = reference.rpartition("/")[2]
            if name.rpartition(".")[2] in _ANY_SCALAR:
                return {}
            found = {} if name in above else self._resolved(self._definitions[name], (*above, name))
            # The API server requires containers in it.
            return {**found, "required": ["spec"]} if name == "io.k8s.api.core.v1.PodTemplateSpec" else found
        result = {key: each for key, each in schema.items() if key != "type" or isinstance(each, str)}
        if "properties" in schema:
            result["properties"] = {key: self._resolved(each, above) for key, each in schema["properties"].items()}
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                result[key] = self._resolved(schema[key], above)
        return result


if __name__ == "__main__":
    main()
