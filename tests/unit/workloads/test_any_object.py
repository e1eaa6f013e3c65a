"""Any JSON in any place of any object: the normaliser never raises, and never changes what it is given."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unit.workloads.full_objects import FULL_OBJECTS, places
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.mutation.editing import copied
from usher.workloads.normalise import normalise

# Keys that mean something to the normaliser, so that random objects are not all strangers to it.
KEYS = st.text(max_size=5) | st.sampled_from(
    sorted({key for value in FULL_OBJECTS.values() for pointer, _ in places(value) for key in paths.split(pointer)})
)
NUMBERS = st.integers() | st.sampled_from([2**31 - 1, 2**53 + 1, 2**64, 10**400, -(10**400)]) | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.sampled_from(["1", "25%", "Always", "1e400"])
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def grafted(draw: st.DrawFn) -> paths.Object:
    """A real object with arbitrary JSON in some of its places."""
    value = copied(FULL_OBJECTS[draw(st.sampled_from(sorted(FULL_OBJECTS)))])
    for _ in range(draw(st.integers(1, 3))):
        pointer = draw(st.sampled_from([place for place, _ in places(value) if place]))
        holder_pointer, _, _ = pointer.rpartition("/")
        key = paths.split(pointer)[-1]
        holder = paths.resolve(value, holder_pointer)
        junk = draw(ANY_JSON)
        if isinstance(holder, dict):
            # Sometimes beside what is there, under a name that means something elsewhere.
            holder[draw(st.just(key) | KEYS)] = junk
        elif isinstance(holder, list):
            holder[int(key)] = junk
    return value


def check(value: paths.Object) -> None:
    before = list(map(repr_of_place, places(value)))

    workload = normalise(value, vocabulary=VOCABULARY, namespace="ml-research")

    assert list(map(repr_of_place, places(value))) == before
    if workload is None:
        return
    for unknown in workload.unknowns:
        paths.resolve(value, unknown.path)
    assert len(set(workload.unknowns)) == len(workload.unknowns)
    for pod_set in workload.pod_sets:
        assert pod_set.count.minimum >= 0
        assert pod_set.count.maximum is None or pod_set.count.minimum <= pod_set.count.maximum
        assert all(quantity.nanos > 0 for quantity in pod_set.accelerators.values())
        for container in pod_set.containers:
            assert isinstance(paths.resolve(value, container.path), dict)


def repr_of_place(place: tuple[str, paths.Json]) -> tuple[str, str]:
    """Comparable even for NaN."""
    pointer, value = place
    if isinstance(value, dict | list):
        return pointer, f"{type(value).__name__} of {len(value)}"
    return pointer, repr(value)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(grafted())
def test_junk_anywhere_in_a_real_object_is_survived(value: paths.Object) -> None:
    check(value)


@given(st.dictionaries(KEYS, ANY_JSON, max_size=5))
def test_any_json_object_is_survived(value: paths.Object) -> None:
    check(value)


@given(st.sampled_from(sorted(FULL_OBJECTS)), ANY_JSON, ANY_JSON)
def test_any_spec_and_any_metadata_of_a_known_kind_are_survived(
    kind: str, metadata: paths.Json, spec: paths.Json
) -> None:
    value = FULL_OBJECTS[kind]

    check({"apiVersion": value["apiVersion"], "kind": value["kind"], "metadata": metadata, "spec": spec})
