"""Writes the fields of all kinds that usher compares manifests with: webhooks/usher/kinds/reading/fields.json.gz.

    kubectl get --raw /openapi/v2 > openapi.json
    tools/record_fields.py --openapi openapi.json swagger.json --crds FOLDER_OF_DEFINITIONS
    tools/record_fields.py --crds FOLDER_OF_DEFINITIONS --schema FILE DEFINITION VERSION KIND

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
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openapi", type=Path, default=[], nargs="+")
    parser.add_argument("--crds", type=Path, default=[], nargs="+")
    parser.add_argument("--schema", action="append", default=[], nargs=4)
    arguments = parser.parse_args()
    documents = [json.loads(file.read_bytes()) for file in arguments.openapi]
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
