"""Reads the pod templates and pod specs that Kubernetes defines, wherever an object holds them.

Why: docs/domain/principles.md#unknown-kinds.
"""

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.reading.templates import LISTS, NOWHERE, ONE, PLAIN, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Inner, Reading


def listed_containers(lists: Mapping[str, Place], reading: Reading) -> Iterator[ContainerPlace]:
    """The containers of a pod spec, whose three lists are given by their names."""
    for name, kind in LISTS:
        if name not in lists:
            continue
        for path, value in reading.items(*lists[name]):
            policy = value.get("restartPolicy")
            if policy is not None:
                policy = reading.text(policy, path + "/restartPolicy")
            sidecar = kind is model.ContainerType.INIT and policy == "Always"
            yield ContainerPlace(value=value, path=path, type=model.ContainerType.SIDECAR if sidecar else kind)


def pod_template(
    place: Place, reading: Reading, *, name: str = "", count: model.Count = ONE, traits: Traits = PLAIN
) -> Template:
    """The template of a PodTemplateSpec: an object with `metadata` and `spec`."""
    value, path = reading.mapping(*place), place.path
    return Template(
        name=name,
        path=path,
        spec=Place(value.get("spec"), path + "/spec"),
        metadata=Place(value.get("metadata"), path + "/metadata"),
        count=count,
        traits=traits,
    )


def pod_spec(
    place: Place,
    *,
    name: str = "",
    metadata: Place = NOWHERE,
    count: model.Count = ONE,
    traits: Traits = PLAIN,
) -> Template:
    """The template of a bare PodSpec, or of an object whose fields include those of one (KServe's predictors)."""
    return Template(name=name, path=place.path, spec=place, metadata=metadata, count=count, traits=traits)


def read_embedded(value: Mapping[str, paths.Json], path: str, reading: Reading) -> Inner | None:
    """A whole object at a path, with its templates at their places; None if its kind is unknown.

    Its unreadable parts are recorded with their paths in the outer object.
    """
    found = reading.context.inner(value)
    if found is None or found.templates is None:
        return found
    for unknown in found.unknowns:
        reading.unknown(path + unknown.path, unknown.reason)
    for name_path, reference in found.references.items():
        reading.record_reference(path + name_path, reference)
    return replace(found, templates=tuple(_template_at(template, path) for template in found.templates))


def _template_at(template: Template, path: str) -> Template:
    return replace(
        template,
        path=path + template.path,
        spec=_moved(template.spec, path),
        metadata=_moved(template.metadata, path),
        containers=None
        if template.containers is None
        else tuple(
            each._replace(
                path=path + each.path,
                requests=each.requests and _moved(each.requests, path),
                limits=each.limits and _moved(each.limits, path),
                environment=each.environment and tuple(_moved(place, path) for place in each.environment),
            )
            for each in template.containers
        ),
        fields={name: _moved(place, path) for name, place in template.fields.items()},
        requests=tuple(replace(each, path=path + each.path) for each in template.requests),
        claims=tuple(claim._replace(path=path + claim.path) for claim in template.claims),
    )


def _moved(place: Place, path: str) -> Place:
    return place if place == NOWHERE else Place(place.value, path + place.path)


def template_times(template: Template, count: model.Count) -> Template:
    """The template of an object that exists several times."""
    own = template.count
    maximum = None
    if own.maximum == 0 or count.maximum == 0:
        maximum = 0
    elif own.maximum is not None and count.maximum is not None:
        maximum = own.maximum * count.maximum
    reasons = dict.fromkeys(filter(None, (*own.reason.split("; "), *count.reason.split("; "))))
    return replace(
        template, count=model.Count(minimum=own.minimum * count.minimum, maximum=maximum, reason="; ".join(reasons))
    )


MAX_NODES = 100_000
"""Objects and lists to look at; the largest published CRDs have 25,000."""

_AMOUNTS = ("requests", "limits")

# Where a node is: the place of its holder, and its key there. A pointer is built only for the nodes that are found.
Trail = tuple["Trail", str | int] | None


def find_pod_specs(value: paths.Json) -> list[str] | None:
    """Paths of all objects with a `containers` list, in document order, without nested ones.

    None when the object is too large to be searched to its end.
    """
    return _find_all(value, _is_pod_spec)


def find_resource_requests(value: paths.Json, is_accelerator: Callable[[str], bool]) -> list[str] | None:
    """Paths of all objects whose `requests` or `limits` name an accelerator; None for an object that is too large.

    Kinds whose operators build the pods have these fields outside of containers.
    """
    return _find_all(
        value, lambda node: any(is_accelerator(name) for field in _AMOUNTS for name in paths.mapping(node.get(field)))
    )


def _find_all(value: paths.Json, is_wanted: Callable[[dict[str, paths.Json]], bool]) -> list[str] | None:
    found: list[str] = []
    stack: list[tuple[Trail, paths.Json]] = [(None, value)]
    for _ in range(MAX_NODES):
        if not stack:
            break
        place, node = stack.pop()
        if isinstance(node, dict) and is_wanted(node):
            found.append(_pointer_of(place))
            continue
        children = reversed(node.items()) if isinstance(node, dict) else reversed(list(enumerate(paths.elements(node))))
        stack.extend(((place, key), child) for key, child in children if isinstance(child, dict | list))
    return None if stack else found


def _is_pod_spec(node: dict[str, paths.Json]) -> bool:
    return any(
        isinstance(container, dict) and "image" in container for container in paths.elements(node.get("containers"))
    )


def _pointer_of(place: Trail) -> str:
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(key)
    return paths.join(paths.ROOT, *reversed(keys))


def not_repeated(before: paths.Object, own: Mapping[str, paths.Json]) -> Iterator[str]:
    """The devices and claims of one block of resources that another does not repeat.

    A TrainJob drops claims of its runtime, and up to version 2.2 these devices too (TR:pkg/runtime/).
    """
    theirs, repeated = (
        {name for part in ("requests", "limits") if isinstance(block := each.get(part), dict) for name in block}
        for each in (before, own)
    )
    yield from sorted(name for name in theirs - repeated if "/" in name or name.startswith("hugepages-"))
    claims = before.get("claims")
    named = [each.get("name") for each in claims if isinstance(each, dict)] if isinstance(claims, list) else []
    yield from (f"claim {name}" for name in named if isinstance(name, str))
