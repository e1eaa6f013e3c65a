"""The keys that usher reports as unread, in manifests of the corpora: the API server refuses the same ones."""

import re
from collections.abc import Iterator, Mapping

import pytest

import kind_definitions
from e2e import corpus, crds
from e2e.cluster import ApiError, Cluster, Object
from usher import paths
from usher.kinds import registry
from usher.kinds.kind import Kind
from usher.workloads.unread_keys import with_unread_keys

pytestmark = pytest.mark.uses_definitions

UNKNOWN_FIELD = re.compile(r'unknown field \\?"([^"\\]*)')


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    name = cluster.create_namespace(prefix="keys-")
    yield name
    cluster.delete_namespace(name, wait=False)


def fields_not_read(value: Object) -> set[str]:
    """The keys that usher reports, as the API server writes their places."""
    workload = with_unread_keys(None, value)
    found = () if workload is None else workload.unread_keys
    return {paths.readable(each.path) for each in found if "nothing reads it" in each.text}


def refused_values(value: Object) -> set[str]:
    """The places of values that usher says the API server refuses, but not the texts that only pods refuse."""
    workload = with_unread_keys(None, value)
    found = () if workload is None else workload.unread_keys
    return {paths.readable(each.path) for each in found if each.refused and not each.kept}


def has_published_fields(kind: Kind) -> bool:
    """Whether the API server of the tests knows the fields of a kind; our own definitions take any."""
    definition = kind_definitions.quick_file_of(kind.group, kind.plural)
    return kind.group in crds.BUILT_IN or (definition is not None and kind_definitions.OWN not in definition.parents)


def reported() -> Mapping[str, list[tuple[Object, set[str]]]]:
    """Manifests of kinds that the API server knows with the keys that usher reports, by group and plural."""
    found: dict[str, list[tuple[Object, set[str]]]] = {}
    for (group, name), values in corpus.manifests().items():
        kind = registry.BY_KEY.get((group, name))
        if kind is None or not has_published_fields(kind):
            continue
        for value in values:
            if fields := fields_not_read(value):
                found.setdefault(f"{group}/{kind.plural}", []).append((value, fields))
    return found


def refused_fields(cluster: Cluster, value: Object) -> set[str] | None:
    """The fields that the API server does not know; None if it refuses the object for another reason."""
    try:
        cluster.create(value, dry_run=True, strict=True)
    except ApiError as error:
        return set(UNKNOWN_FIELD.findall(str(error))) or None
    return set()


def test_the_api_server_knows_no_field_that_usher_reports(cluster: Cluster, home: str) -> None:
    found = reported()
    crds.install(cluster, [name for name in found if name.partition("/")[0] not in crds.BUILT_IN])
    taken = {}
    for values in found.values():
        for value, fields in values:
            kind = registry.BY_KEY[str(value["apiVersion"]).rpartition("/")[0], value["kind"]]
            refused = refused_fields(cluster, corpus.placed(value, kind, home))
            if refused is not None and not fields <= refused:
                taken[f"{value['kind']} {value['metadata'].get('name')}"] = fields - refused

    assert taken == {}


def test_the_api_server_refuses_the_manifests_with_values_that_usher_says_it_refuses(
    cluster: Cluster, home: str
) -> None:
    taken = {}
    for (group, name), values in corpus.manifests().items():
        kind = registry.BY_KEY.get((group, name))
        if kind is None or not has_published_fields(kind):
            continue
        for value in values:
            if fields := refused_values(value):
                if group not in crds.BUILT_IN:
                    crds.install(cluster, [f"{group}/{kind.plural}"])
                try:
                    cluster.create(corpus.placed(value, kind, home), dry_run=True, strict=True)
                    taken[f"{value['kind']} {value['metadata'].get('name')}"] = fields
                except ApiError:
                    pass

    assert taken == {}


@pytest.mark.parametrize(
    "spec",
    [
        {"restartPolicy": "never"},
        {"terminationGracePeriodSeconds": "30"},
        {"hostNetwork": "true"},
        {"nodeSelector": {"gpu": True}},
        {"tolerations": {}},
        {"tolerations": [{"operator": "exist"}]},
        {"containers": [{"name": "main", "image": "main:1", "env": [{"name": "A", "value": 8}]}]},
        {"containers": [{"name": "main", "image": "main:1", "command": "train"}]},
    ],
)
def test_a_value_of_a_pod_that_usher_reports_is_refused(cluster: Cluster, home: str, spec: Object) -> None:
    containers = [{"name": "main", "image": "main:1"}]
    metadata = {"name": "one", "namespace": home}
    pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}

    assert refused_values(pod)
    with pytest.raises(ApiError):
        cluster.create(pod, dry_run=True, strict=True)


@pytest.mark.parametrize("key", ["resource", "limit", "toleration"])
def test_a_misspelt_key_of_a_pod_is_refused_by_both(cluster: Cluster, home: str, key: str) -> None:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one", "namespace": home},
        "spec": {"containers": [{"name": "main", "image": "main:1", key: {}}]},
    }

    assert refused_fields(cluster, pod) == fields_not_read(pod) == {f"spec.containers[0].{key}"}
