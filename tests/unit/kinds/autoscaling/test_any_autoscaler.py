"""Any JSON in any place of an autoscaler or a scale: nothing is guessed, nothing raises, nothing is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.kinds.full import places
from unit.workloads.growing_objects import (
    growth_of,
    horizontal_pod_autoscaler,
    role_scaler,
    scale,
    scaled_object,
    unknowns,
)
from usher import paths
from usher.kinds import autoscaling
from usher.policy.mutation.editing import copied
from usher.workloads import grown_workloads

FULL_OBJECTS: dict[str, paths.Object] = {
    "HorizontalPodAutoscaler": horizontal_pod_autoscaler(minimum=2, labels={"a": "b"}),
    "ScaledObject": scaled_object(
        {"minReplicaCount": 2, "maxReplicaCount": 8, "idleReplicaCount": 1},
        target={"apiVersion": "apps/v1", "kind": "StatefulSet"},
        annotations={autoscaling.PAUSED: "false"},
    ),
    "paused ScaledObject": scaled_object(annotations={autoscaling.PAUSED_REPLICAS: "3"}),
    "Scale": scale(3),
    "DisaggregatedSetRoleScaler": role_scaler(3),
}
UNREAD = ("/apiVersion", "/kind", "/metadata/labels/a")
JUNK: list[paths.Json] = ["junk", 7, 0.5, True, ["junk"], {"junk": "junk"}]


@pytest.mark.parametrize("kind", FULL_OBJECTS)
def test_a_wrong_type_is_unknown_at_its_place(kind: str) -> None:
    value = FULL_OBJECTS[kind]
    assert growth_of(value).unknowns == ()
    for pointer, found in places(value):
        if pointer in ("", "/metadata/labels", *UNREAD):
            continue
        for junk in JUNK:
            if type(junk) is not type(found):
                paths_found = {path for path, _ in unknowns(builders.replaced(value, pointer, junk))}
                # Without its labels a role scaler tells its target no more, which is said as well.
                assert pointer in paths_found, (pointer, junk)
                assert kind == "DisaggregatedSetRoleScaler" or paths_found == {pointer}, (pointer, junk)


KEYS = st.text(max_size=5) | st.sampled_from(
    sorted({key for value in FULL_OBJECTS.values() for pointer, _ in places(value) for key in paths.split(pointer)})
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([-1, 0, 2**31 - 1, 10**400])
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["v1", "apps/v1", "a/b/c", "Deployment"])
)
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=10
)


def check(value: paths.Object) -> None:
    before = repr(value)

    found = grown_workloads.growth_of(value, namespace="ml-research")

    assert repr(value) == before
    if found is not None:
        assert found.minimum >= 0
        assert found.maximum is None or found.minimum <= found.maximum
        assert found.maximum is not None or found.unknowns
        for path in (found.maximum_path, found.target_path, *(unknown.path for unknown in found.unknowns)):
            paths.resolve(value, path)


@given(st.sampled_from(sorted(FULL_OBJECTS)), st.data())
def test_junk_anywhere_in_a_real_object_is_survived(kind: str, data: st.DataObject) -> None:
    value = copied(FULL_OBJECTS[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        pointer = data.draw(st.sampled_from([place for place, _ in places(value) if place]))
        holder = paths.resolve(value, pointer.rpartition("/")[0])
        assert isinstance(holder, dict | list)
        if isinstance(holder, dict):
            holder[paths.split(pointer)[-1]] = data.draw(ANY_JSON)
    check(value)


@given(st.sampled_from(sorted(FULL_OBJECTS)), ANY_JSON, ANY_JSON)
def test_any_spec_and_any_metadata_are_survived(kind: str, metadata: paths.Json, spec: paths.Json) -> None:
    value = FULL_OBJECTS[kind]

    check({"apiVersion": value["apiVersion"], "kind": value["kind"], "metadata": metadata, "spec": spec})


@given(st.dictionaries(KEYS, ANY_JSON, max_size=5))
def test_any_json_object_is_survived(value: paths.Object) -> None:
    check(value)
