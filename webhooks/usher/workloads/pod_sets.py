"""From a template to a pod set: the part that all kinds share."""

from typing import Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.reading import annotated_requests
from usher.reading.templates import ClaimPlace, Place, Template
from usher.reading.values import Reading
from usher.workloads import accelerators, claim_specs, claims, containers
from usher.workloads.pod_specs import PodSpec

DEFAULT_SCHEDULER: Final = model.Scheduler(name="default-scheduler", reason="the template names none")


def pod_set(template: Template, *, reading: Reading, vocabulary: Vocabulary) -> model.PodSet:
    """The normalised pod set of one template."""
    spec = PodSpec(template, reading)
    metadata_path = template.metadata.path
    metadata = reading.mapping(template.metadata.value, metadata_path)
    annotations = reading.strings(metadata.get("annotations"), metadata_path + "/annotations")
    group_path = spec.path("schedulingGroup") + "/podGroupName"
    group_name = reading.text(spec.mapping("schedulingGroup").get("podGroupName"), group_path)
    entries = tuple(spec.items("resourceClaims"))
    claimed = claims.of_pod(entries, group=group_name, group_path=group_path, reading=reading, vocabulary=vocabulary)
    giving = claimed.giving
    places = spec.containers() if template.containers is None else template.containers
    found = tuple(
        containers.read(place, template, reading=reading, vocabulary=vocabulary, giving=giving) for place in places
    )
    by_annotation = annotated_requests.of_pod(annotations, metadata_path + "/annotations", reading)
    made = [_made(place, reading, vocabulary) for place in template.claims]
    for otherwise in (by_annotation, *made):
        if otherwise.requests:
            found = tuple(containers.giving_to(found, otherwise.containers, template, first=otherwise.first_container))
    overhead = spec.resources("overhead")
    of_one_pod = accelerators.of_pod(found, overhead=overhead, vocabulary=vocabulary)
    scheduler_name = spec.text("schedulerName")
    terms = spec.required_terms()
    return model.PodSet(
        name=template.name,
        path=template.path,
        metadata_path=metadata_path,
        spec_path=template.spec.path,
        count=template.count,
        labels=reading.strings(metadata.get("labels"), metadata_path + "/labels"),
        annotations=annotations,
        containers=found,
        tolerations=tuple(spec.tolerations()),
        node_selector=spec.strings("nodeSelector"),
        required_terms=terms or (),
        has_required_affinity=terms is not None,
        scheduler_name=scheduler_name,
        scheduler=_scheduler(scheduler_name, template),
        priority_class_name=spec.text("priorityClassName"),
        runtime_class_name=spec.text("runtimeClassName"),
        node_name=spec.text("nodeName"),
        placed=template.placed,
        scheduling_gates=tuple(
            reading.text(gate.get("name"), path + "/name") for path, gate in spec.items("schedulingGates")
        ),
        scheduling_group=group_name,
        pod_group=template.traits.pod_group,
        device_claims=len(entries),
        accelerators=of_one_pod,
        requests=(
            *accelerators.requests(
                of_one_pod, found, overhead_path=spec.path("overhead"), reading=reading, vocabulary=vocabulary
            ),
            *claimed.requests,
            *by_annotation.requests,
            *(request for claim in made for request in claim.requests),
            *template.requests,
        ),
        overhead=overhead,
        pod_requests=spec.resources("resources", "requests"),
        pod_limits=spec.resources("resources", "limits"),
        operator_environment=template.traits.operator_environment,
        ranks_inherit_environment=template.traits.ranks_inherit_environment,
        fields=spec.fields(),
        places={field: place.path for field, place in template.fields.items()},
        changeable=template.traits.changeable,
        overrides=template.overrides,
        whole=template.traits.whole,
    )


def _made(place: ClaimPlace, reading: Reading, vocabulary: Vocabulary) -> annotated_requests.Annotated:
    """What a claim asks for that no template names."""
    inner = Reading()
    found = claim_specs.read(
        Place(place.spec, paths.ROOT), inner, reading=reading, vocabulary=vocabulary, path=place.path
    )
    for unknown in inner.found():
        reading.unknown(place.path, unknown.reason)
    return annotated_requests.Annotated(
        requests=tuple(claim_specs.requests(found, path=place.path)),
        containers=frozenset(filter(None, [place.container])),
        first_container=not place.container,
    )


def _scheduler(named: str, template: Template) -> model.Scheduler:
    return model.Scheduler(name=named) if named else template.traits.scheduler or DEFAULT_SCHEDULER
