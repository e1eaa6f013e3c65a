"""A workload inside another object: its templates, with their places in the whole (AppWrapper, cron kinds)."""

from collections.abc import Mapping
from dataclasses import replace

from usher import model, paths
from usher.reading.context import Inner
from usher.reading.templates import NOWHERE, Place, Template
from usher.reading.values import Reading


def read(value: Mapping[str, paths.Json], path: str, reading: Reading) -> Inner | None:
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
    return replace(found, templates=tuple(_at(template, path) for template in found.templates))


def _at(template: Template, path: str) -> Template:
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


def times(template: Template, count: model.Count) -> Template:
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
