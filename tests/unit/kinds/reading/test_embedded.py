"""Workloads in other objects: their templates, at their places in the whole."""

import pytest

import builders
from unit.workloads.normalised import readable_workload, workload
from usher import model, paths, quantities
from usher.kinds.kind import Kind, KueueUnit, Pods, Starts
from usher.kinds.reading import pod_templates
from usher.kinds.reading.templates import NOWHERE, ClaimPlace, ContainerPlace, Place, Template
from usher.kinds.reading.values import MAX_DEPTH, Context, Reading
from usher.kinds.registry import WORKLOADS
from usher.workloads import normalise

PREFIX = "/spec/components/0/template"


def reading() -> Reading:
    return Reading(Context(find_inner=normalise.inner_finder(WORKLOADS)))


def templates(value: paths.Object, *, of: Reading | None = None) -> list[Template]:
    found = pod_templates.read_embedded(value, PREFIX, of or reading())
    assert found is not None, "the kind is not known"
    assert found.templates is not None, "the version is not known"
    return list(found.templates)


def wrapped(value: paths.Object, *, times: int = 1) -> paths.Object:
    """The object in an AppWrapper, in an AppWrapper, ..."""
    for _ in range(times):
        value = builders.custom("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [{"template": value}]})
    return value


def test_every_path_of_a_template_leads_through_the_whole() -> None:
    (job,) = templates(builders.job(builders.template(labels={"a": "b"}), parallelism=3))

    assert job.path == PREFIX + "/spec/template"
    assert job.spec.path == PREFIX + "/spec/template/spec"
    assert job.metadata.path == PREFIX + "/spec/template/metadata"
    assert job.count == model.Count(minimum=3, maximum=3)


@pytest.mark.parametrize(
    "value",
    [
        builders.job(),
        builders.pod(),
        builders.pytorch_job(workers=2, master=builders.template()),
        builders.ray_cluster(builders.ray_group(replicas=2)),
        builders.volcano_job(),
    ],
    ids=lambda value: str(value["kind"]),
)
def test_the_pod_sets_are_those_of_the_object_by_itself(value: paths.Object) -> None:
    alone = readable_workload(value).pod_sets
    inside = readable_workload(wrapped(value)).pod_sets

    assert [found.path for found in inside] == [PREFIX + found.path for found in alone]
    assert [found.spec_path for found in inside] == [PREFIX + found.spec_path for found in alone]
    assert [found.count for found in inside] == [found.count for found in alone]
    assert [[container.path for container in found.containers] for found in inside] == [
        [PREFIX + container.path for container in found.containers] for found in alone
    ]


def test_what_cannot_be_read_is_unknown_at_its_place_in_the_whole() -> None:
    of = reading()
    templates(builders.job(parallelism="three"), of=of)

    assert of.found() == (
        model.Unknown(path=PREFIX + "/spec/parallelism", reason="expected a whole number, found a string"),
    )


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("example.com/v1", "Job"),
        ("batch/v9", "Job"),
        ("batch", "Job"),
        ("batch/v1", "Jobs"),
        (None, "Job"),
        ("batch/v1", None),
        (5, "Job"),
        ("batch/v1", ["Job"]),
    ],
)
def test_an_object_of_an_unknown_kind_or_version_has_no_templates(api_version: paths.Json, kind: paths.Json) -> None:
    value = builders.replaced(builders.replaced(builders.job(), "/apiVersion", api_version), "/kind", kind)
    of = reading()

    found = pod_templates.read_embedded(value, PREFIX, of)

    assert found is None or found.templates is None
    assert of.found() == ()


def test_objects_in_objects_are_followed_only_so_deep() -> None:
    deep = workload(wrapped(builders.job(parallelism=2), times=MAX_DEPTH))
    deeper = workload(wrapped(builders.job(parallelism=2), times=MAX_DEPTH + 1))

    assert [found.path for found in deep.pod_sets] == [PREFIX * MAX_DEPTH + "/spec/template"] or deep.unknowns
    assert deeper.pod_sets == ()
    assert deeper.unknowns


def every_part() -> Template:
    """A template with all parts that have a place."""
    place = Place({}, "/spec/thing")
    return Template(
        name="thing",
        path="/spec/thing",
        spec=place,
        metadata=place,
        fields={"tolerations": place},
        containers=(
            ContainerPlace(value={}, path="/spec/thing", requests=place, limits=place, environment=(place,)),
            ContainerPlace(value={}, path="/spec/thing"),
        ),
        claims=(ClaimPlace(spec={}, path="/spec/thing"),),
        requests=(
            model.AcceleratorRequest(
                route=model.Route.CLAIM,
                name="gpu.nvidia.com",
                minimum=quantities.ZERO,
                maximum=quantities.ZERO,
                path="/spec/thing",
            ),
        ),
    )


def of_thing(template: Template) -> Template:
    """The template as it is when a Thing that has it stands in another object."""
    thing = Kind(
        group="example.com",
        versions=("v1",),
        kind="Thing",
        plural="things",
        pods=Pods(
            templates=lambda _value, _reading: [template],
            template_paths=("spec.thing",),
            counted="",
            source="",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
        ),
    )
    value = builders.custom("example.com/v1", "Thing", {})
    find_inner = normalise.inner_finder({("example.com", "Thing"): thing})
    (found,) = templates(value, of=Reading(Context(find_inner=find_inner)))
    return found


def test_every_part_of_a_template_that_has_a_place_is_moved() -> None:
    moved = repr(of_thing(every_part()))

    assert moved.count(f"'{PREFIX}/spec/thing'") == repr(every_part()).count("'/spec/thing'")


def test_a_part_without_a_place_stays_without_a_place() -> None:
    template = Template(name="", path="/spec", spec=Place({}, "/spec"))

    assert of_thing(template).metadata == NOWHERE
    assert of_thing(template).containers is None


# What is there several times


def times(own: model.Count, count: model.Count) -> model.Count:
    template = Template(name="", path="", spec=NOWHERE, count=own)
    return pod_templates.template_times(template, count).count


@pytest.mark.parametrize(
    ("own", "several", "product"),
    [
        ((2, 2), (3, 3), (6, 6)),
        ((1, 4), (2, 3), (2, 12)),
        ((1, None), (2, 3), (2, None)),
        ((1, 1), (0, None), (0, None)),
        ((1, None), (0, 0), (0, 0)),
        ((0, 0), (0, None), (0, 0)),
    ],
)
def test_the_least_and_the_most_are_multiplied(
    own: tuple[int, int | None], several: tuple[int, int | None], product: tuple[int, int | None]
) -> None:
    found = times(model.Count(minimum=own[0], maximum=own[1]), model.Count(minimum=several[0], maximum=several[1]))

    assert (found.minimum, found.maximum) == product


def test_each_reason_appears_once() -> None:
    both = model.Count(minimum=0, maximum=None, reason="runs overlap; autoscaling")

    assert times(model.Count(minimum=0, maximum=1, reason="autoscaling"), both).reason == "autoscaling; runs overlap"
    assert times(model.Count(minimum=1, maximum=1), model.Count(minimum=2, maximum=2)).reason == ""
