"""usher refuses no object by its definition that an API server with this definition takes, and few less than it.

The objects are made from the schema, at random: half of them break one limit. In a change the definition is a small one
that has all limits; at night it is each published one.
"""

import random
from collections import Counter
from typing import Any, Final

import pytest
import yaml

import generated_examples
import kind_definitions
import shared_files
from e2e import crds
from e2e.cluster import ApiError, Cluster, Object
from e2e.schema_objects import SchemaObjects
from unit.workloads.test_definition_limits import definition
from usher.kinds.reading.definition_limits import NAMED_BY_CHECKS, beyond_limits
from usher.kinds.reading.fields import Definitions
from usher.workloads.unread_keys import with_unread_keys

_OBJECTS: Final = 40
_LARGEST: Final = 200_000
"""The bytes of an object above which an API server of the tests takes long."""

_ENOUGH: Final = 0.75
"""The share of refused objects that usher refuses too. It leaves out what it cannot evaluate, and parts of patches."""


def _small() -> Object:
    found: dict[str, Any] = dict(definition())
    found["spec"] |= {"scope": "Namespaced", "names": {"kind": "Train", "plural": "trains", "singular": "train"}}
    found["spec"]["versions"][0] |= {"served": True, "storage": True}
    return found


def _compare(cluster: Cluster, namespace: str, defined: Object) -> Counter[tuple[bool, bool]]:
    """How often the API server refused, and usher did, over all served versions."""
    spec, facts = defined["spec"], Definitions([defined])
    seen = Counter[tuple[bool, bool]]()
    converted = spec.get("conversion", {}).get("strategy") == "Webhook"  # by a program that does not run here
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        made = SchemaObjects(random.Random(f"{spec['group']} {spec['names']['kind']} {version['name']}"))
        for index in range(_OBJECTS if version["storage" if converted else "served"] else 0):
            value = made.value(schema)
            if index % 2:
                made.damage(value, schema)
            value |= {
                "apiVersion": f"{spec['group']}/{version['name']}",
                "kind": spec["names"]["kind"],
                "metadata": {"name": f"one-{index}", "namespace": namespace},
            }
            if len(str(value)) > _LARGEST:
                continue
            refused = _refusal(cluster, value)
            named = [each.text for each in beyond_limits(value, [facts], ())]
            types = with_unread_keys(None, value, facts=facts) if refused else None
            assert refused or not named, (value, named)
            if any(each in refused for each in NAMED_BY_CHECKS):
                continue
            seen[bool(refused), bool(named or (types and types.unread_keys))] += 1
    return seen


def _refusal(cluster: Cluster, value: Object) -> str:
    try:
        cluster.create(value, dry_run=True)
    except ApiError as error:
        if error.status != 422:
            raise
        return str(error)
    return ""


def test_usher_and_the_api_server_agree_about_a_definition_with_all_limits(cluster: Cluster, namespace: str) -> None:
    small = _small()
    created = cluster.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=small)
    assert created.body["metadata"]["name"] == "trains.example.com"
    crds.wait_until_served(cluster, "example.com/trains")

    seen = _compare(cluster, namespace, small)

    assert seen[True, True] >= 5
    assert seen[False, False] >= 10
    assert seen[True, False] == 0


@pytest.mark.thorough
@shared_files.needs_shared("published definitions")
def test_usher_and_the_api_server_agree_about_published_definitions(cluster: Cluster, namespace: str) -> None:
    seen = Counter[tuple[bool, bool]]()
    for file in sorted(kind_definitions.PUBLISHED.rglob("*.yaml")):
        # Our own definition, which takes any spec, is the one of a run that is not thorough.
        installed = kind_definitions.quick_file_of(file.parent.name, file.stem)
        if "other" not in file.parts and installed is not None:
            crds.install(cluster, [f"{file.parent.name}/{file.stem}"])
            seen += _compare(cluster, namespace, yaml.load(installed.read_bytes(), yaml.CSafeLoader))

    refused = seen[True, True] + seen[True, False]
    assert refused > 500 or not generated_examples.are_thorough()
    assert seen[True, True] >= _ENOUGH * refused
