"""Workflows of Argo and their templates, for tests."""

import builders
from unit.workloads.normalised import counts
from usher import paths
from usher.kinds.reading import values

API = "argoproj.io/v1alpha1"

Fields = builders.JsonValue


def pod(name: str = "train", /, *, gpus: Fields = None, **fields: Fields) -> Fields:
    """A template that makes a pod."""
    container = builders.container(limits=None if gpus is None else {builders.GPU: gpus})
    return {"name": name, "container": container, **fields}


def steps(*each: Fields, name: str = "main", **fields: Fields) -> Fields:
    """A template whose steps follow each other."""
    return {"name": name, "steps": [[step] for step in each], **fields}


def dag(*tasks: Fields, name: str = "main", target: str | None = None) -> Fields:
    return {"name": name, "dag": {"tasks": list(tasks), **({} if target is None else {"target": target})}}


def step(template: str = "train", /, **fields: Fields) -> Fields:
    return {"name": template, "template": template, **fields}


def spec(*templates: Fields, entrypoint: Fields = "main", **fields: Fields) -> dict[str, Fields]:
    found: dict[str, Fields] = {"templates": list(templates), **fields}
    return found if entrypoint is None else {"entrypoint": entrypoint, **found}


def workflow(*templates: Fields, entrypoint: str | None = "main", **fields: Fields) -> paths.Object:
    return builders.custom(API, "Workflow", spec(*templates, entrypoint=entrypoint, **fields))


def library(
    *templates: Fields, name: str = "library", kind: str = "WorkflowTemplate", **fields: Fields
) -> paths.Object:
    namespace = None if kind == "ClusterWorkflowTemplate" else "ml-research"
    return builders.custom(API, kind, {"templates": list(templates), **fields}, name=name, namespace=namespace)


def pods(value: paths.Object, *others: paths.Object) -> dict[str, tuple[int, int | None]]:
    """Counts by the names of the pod sets, which must be unique."""
    found = counts(value, objects=values.Objects(others))
    assert len({name for name, *_ in found}) == len(found)
    return {name: (minimum, maximum) for name, _, minimum, maximum in found}
