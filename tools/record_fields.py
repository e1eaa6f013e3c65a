"""Writes the fields of all kinds that usher compares manifests with: webhooks/usher/workloads/fields.json.gz.

    kubectl get --raw /openapi/v2 > openapi.json
    tools/record_fields.py --openapi openapi.json --crds FOLDER_OF_DEFINITIONS

The first file gives Kubernetes' own kinds, in the version of that API server. The folder gives those of operators.
The result has each set of fields once, however many kinds share it.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from usher.install.manifests import quota_definition
from usher.workloads import unread_keys

_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_SKIPPED: Final = frozenset(
    {"DeleteOptions", "WatchEvent", "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"}
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openapi", type=Path, required=True)
    parser.add_argument("--crds", type=Path, required=True)
    arguments = parser.parse_args()
    document = json.loads(arguments.openapi.read_bytes())
    recorded = Recorded(document["definitions"])
    recorded.add_kubernetes()
    for definition in (*_definitions(arguments.crds), quota_definition.definition()):
        recorded.kinds |= recorded.fields.of_definition(definition)
    result = {
        "kubernetes": document["info"]["version"],
        "nodes": recorded.fields.nodes,
        "kinds": dict(sorted(recorded.kinds.items())),
    }
    text = json.dumps(result, separators=(",", ":"), sort_keys=True).encode()
    unread_keys.FILE.write_bytes(gzip.compress(text, mtime=0))


def _definitions(folder: Path) -> Iterator[Mapping[str, Any]]:
    for file in sorted(folder.rglob("*.yaml")):
        for value in yaml.load_all(file.read_bytes(), yaml.CSafeLoader):
            if isinstance(value, dict) and value.get("kind") == "CustomResourceDefinition":
                yield value


class Recorded:
    """The fields of Kubernetes' own kinds."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self.fields = unread_keys.Fields()
        self.kinds: dict[str, int] = {}

    def add_kubernetes(self) -> None:
        metadata = self._resolved({"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})
        self.fields.metadata = self.fields.of_schema(metadata)
        for name, schema in sorted(self._definitions.items()):
            for each in schema.get("x-kubernetes-group-version-kind", ()):
                kind = each["kind"]
                if kind in _SKIPPED or kind.endswith("List") or "metadata" not in schema.get("properties", {}):
                    continue
                version = f"{each['group']}/{each['version']}" if each["group"] else each["version"]
                self.kinds[f"{version} {kind}"] = self.fields.of_schema(
                    self._resolved({"$ref": f"#/definitions/{name}"})
                )

    def _resolved(self, schema: Mapping[str, Any], above: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """A schema without references; one that holds itself takes anything."""
        if reference := schema.get("$ref"):
            name = reference.rpartition("/")[2]
            found = {} if name in above else self._resolved(self._definitions[name], (*above, name))
            # The API server requires containers in it.
            return {**found, "required": ["spec"]} if name == "io.k8s.api.core.v1.PodTemplateSpec" else found
        result = dict(schema)
        if "properties" in schema:
            result["properties"] = {key: self._resolved(each, above) for key, each in schema["properties"].items()}
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                result[key] = self._resolved(schema[key], above)
        return result


if __name__ == "__main__":
    main()
