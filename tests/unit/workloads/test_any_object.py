"""Any JSON in any place of any object: the normaliser never raises, and never changes what it is given."""

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unit.kinds.full import FULL_OBJECTS, KNOWN, places
from unit.workloads.normalised import VOCABULARY
from usher import paths
from usher.kinds.reading.values import NO_OBJECTS, Lookup
from usher.policy.mutation.editing import copied
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


def check(value: paths.Object, *, objects: Lookup = NO_OBJECTS) -> None:
    before = list(map(repr_of_place, places(value)))

    workload = normalise(value, vocabulary=VOCABULARY, namespace="ml-research", objects=objects)

    assert list(map(repr_of_place, places(value))) == before
    if workload is None:
        return
    for unknown in workload.unknowns:
        paths.resolve(value, unknown.path)
    assert len(set(workload.unknowns)) == len(workload.unknowns)
    assert len({pod_set.path for pod_set in workload.pod_sets}) == len(workload.pod_sets)
    for pod_set in workload.pod_sets:
        assert pod_set.count.minimum >= 0
        assert pod_set.count.maximum is None or pod_set.count.minimum <= pod_set.count.maximum
        assert all(quantity.nanos > 0 for quantity in pod_set.accelerators.values())
        for container in pod_set.containers:
            # What comes from another object stands below the string that names it.
            assert objects is KNOWN or isinstance(paths.resolve(value, container.path), dict)


def repr_of_place(place: tuple[str, paths.Json]) -> tuple[str, str]:
    """Comparable even for NaN."""
    pointer, value = place
    if isinstance(value, dict | list):
        return pointer, f"{type(value).__name__} of {len(value)}"
    return pointer, repr(value)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(grafted(), st.sampled_from([NO_OBJECTS, KNOWN]))
def test_junk_anywhere_in_a_real_object_is_survived(value: paths.Object, objects: Lookup) -> None:
    check(value, objects=objects)


@given(st.dictionaries(KEYS, ANY_JSON, max_size=5))
def test_any_json_object_is_survived(value: paths.Object) -> None:
    check(value)


@given(st.sampled_from(sorted(FULL_OBJECTS)), ANY_JSON, ANY_JSON)
def test_any_spec_and_any_metadata_of_a_known_kind_are_survived(
    kind: str, metadata: paths.Json, spec: paths.Json
) -> None:
    value = FULL_OBJECTS[kind]

    check({"apiVersion": value.get("apiVersion"), "kind": value.get("kind"), "metadata": metadata, "spec": spec})


# Objects whose keys are names that somebody made up, and those that are taken over whole.
NAMED = re.compile(
    r".*/(labels|annotations|podAnnotations|nodeSelector|matchLabels|\w*[sS]elector|requests|limits|overhead|capacity"
    r"|\w*ReplicaSpecs|sparkConf|hadoopConf|driverInfo|config|envVars|executors|components|tasks|parameters"
    r"|parameterValues|hooks|memoize|tolerations?/\d+|nodeSelectorTerms/.*)"
)


@given(st.data())
def test_an_unread_field_changes_nothing(data: st.DataObject) -> None:
    original = FULL_OBJECTS[data.draw(st.sampled_from(sorted(FULL_OBJECTS)))]
    holders = [
        pointer for pointer, found in places(original) if isinstance(found, dict) and not NAMED.fullmatch(pointer)
    ]
    pointer = data.draw(st.sampled_from(holders))
    value = copied(original)
    holder = paths.resolve(value, pointer)
    assert isinstance(holder, dict)
    holder["fieldOfTheFuture"] = data.draw(SCALARS)

    assert normalise(value, vocabulary=VOCABULARY, objects=KNOWN) == normalise(
        original, vocabulary=VOCABULARY, objects=KNOWN
    )
