"""The objects that a source hands to the runner, one file or page of a list at a time, and their places in the text."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from msgspec import Struct

from usher import paths
from usher.check import findings
from usher.config import models
from usher.documents import reader
from usher.kinds import kubeflow_pipelines, registry
from usher.kinds.reading import pod_templates


class Item(Struct, frozen=True, kw_only=True):
    """One Kubernetes object and its place in a file."""

    value: paths.Object
    document: reader.Document | None = None
    """None for objects of a live cluster."""
    existing: bool = False
    """Whether it was listed in a cluster, with the facts of that cluster."""
    owner_is_hidden: bool = False
    """Whether the objects of its owner's kind could not be read."""
    prefix: str = paths.ROOT
    """Pointer to the object in its document: `/items/3` in a List."""


class Batch(Struct, frozen=True, kw_only=True):
    source: str
    """The file name as the user wrote it, `<stdin>`, or the listed resource."""
    items: tuple[Item, ...] = ()
    for_policies: tuple[Item, ...] = ()
    """Objects of kinds that only Gatekeeper policies judge. These policies also judge the objects in `aside`."""
    aside: tuple[paths.Object, ...] = ()
    """Objects that usher does not judge: owned, finished and exempt ones. An audit counts the accelerators of their
    pods.
    """
    documents: tuple[reader.Document, ...] = ()
    """All documents of a file, including those without an object."""
    problems: tuple[findings.Problem, ...] = ()
    notes: tuple[findings.Note, ...] = ()
    ignored: int = 0
    """Number of documents that are not Kubernetes objects."""
    owned: int = 0
    """Number of objects left out because they count as part of a listed owner."""
    finished: int = 0
    """Number of objects left out because they are finished."""
    is_file: bool = True
    part: int = 0
    """The first line of a part of a large file; 0 for a whole file."""


_OWN_GROUP = models.API_VERSION.partition("/")[0]


def flatten(value: paths.Json, *, prefix: str = paths.ROOT) -> Iterator[tuple[str, paths.Json]]:
    """The value itself, or the objects in a List or a Template of OpenShift, with their pointers in the document.

    Items of a typed list (PodList) may lack kind and apiVersion, as in lists of the API server. They take them from the
    list.
    """
    field = _field_of_objects(value) if isinstance(value, dict) else ""
    if not field or not isinstance(value, dict):
        yield prefix, value
        return
    kind, version = str(value["kind"]), value.get("apiVersion")
    for index, item in enumerate(paths.elements(value[field])):
        if field == "items" and isinstance(item, dict) and kind != "List" and "kind" not in item:
            item = {"apiVersion": version, "kind": kind.removesuffix("List"), **item}  # noqa: PLW2901 - the same item, complete
        yield from flatten(item, prefix=f"{prefix}/{field}/{index}")


def completed(before: paths.Object, value: paths.Json) -> paths.Object | None:
    """The object before a document, completed by it: the settings of a compiled pipeline are in the next document."""
    if not (
        isinstance(value, dict) and kubeflow_pipelines.is_platforms(value) and kubeflow_pipelines.is_pipeline(before)
    ):
        return None
    return kubeflow_pipelines.with_platforms(before, value)


def comes_from_cluster(value: paths.Object) -> bool:
    """Whether an object comes from a cluster: only the API server gives a uid."""
    return bool(paths.text(paths.metadata(value).get("uid")))


def _field_of_objects(value: paths.Object) -> str:
    """The field of other objects in a value, as `kubectl` and `oc process` find it; empty for an object."""
    kind, group = value.get("kind"), paths.text(value.get("apiVersion")).partition("/")[0]
    field = "objects" if kind == "Template" and group == "template.openshift.io" else "items"
    is_one = isinstance(kind, str) and (field == "objects" or kind.endswith("List"))
    return field if is_one and isinstance(value.get(field), list) else ""


def why_not_object(value: paths.Json) -> str:
    """Why a value is not a Kubernetes object; empty for an object, and for a compiled pipeline."""
    if kubeflow_pipelines.is_pipeline(value):
        return ""
    if not isinstance(value, dict):
        return "not a Kubernetes object: no mapping with apiVersion and kind"
    if value.get("apiVersion") == "builtin":
        return "not a Kubernetes object: a transformer or a generator of kustomize"
    missing = [key for key in ("apiVersion", "kind") if not isinstance(value.get(key), str) or not value[key]]
    return f"not a Kubernetes object: no {' and no '.join(missing)}" if missing else ""


def group_and_kind(value: paths.Object) -> tuple[str, str]:
    group, _, kind = kubeflow_pipelines.group_version_kind(value)
    return group, kind


def is_usher_file(value: paths.Object) -> bool:
    """Whether it is a file of gpu-usher (usher.yaml, a report) and not an object of a cluster like a GPUQuota."""
    group, _, kind = kubeflow_pipelines.group_version_kind(value)
    return group == _OWN_GROUP and (group, kind) not in registry.SHAPES


def makes_pods(value: paths.Object) -> bool:
    """Whether an object is of a kind that makes pods."""
    return group_and_kind(value) in registry.PODS


def meant_as_workload(value: paths.Json) -> bool:
    """Whether a value that is not a Kubernetes object was probably meant to be one: it has a kind and a pod spec."""
    return isinstance(value, dict) and bool(value.get("kind")) and bool(pod_templates.find_pod_specs(value))


# The place to show for an object as a whole, and for fields missing at its top.
_HEAD = "/kind"

_KEPT: Final[dict[str, tuple[reader.Document, Any]]] = {}
"""The places in the last document, by the way in which they are found. A List has thousands of objects in one text,
which is read only once.
"""

_Places = TypeVar("_Places", reader.Places, reader.WrittenPlaces)


def _places(document: reader.Document, make: Callable[[reader.Document], _Places]) -> _Places:
    kept = _KEPT.get(make.__name__)
    if kept is None or kept[0] is not document:
        kept = _KEPT[make.__name__] = document, make(document)
    result: _Places = kept[1]
    return result


class Pointer:
    """Finds places in the text of one object. It reads the text only when the first place is needed."""

    def __init__(self, item: Item) -> None:
        self._item = item

    def place(self, pointer: str) -> findings.Place | None:
        """The place of the value at a pointer, or of the nearest value above if it is missing.

        It is the place of a text or number itself, but of the key for a mapping or list, because the key names it. None
        for objects without text.
        """
        document = self._item.document
        if document is None:
            return None
        found = self._written(document, pointer)
        if found is None:
            known = _places(document, reader.Places)
            span = self._span(known, pointer)
            found = span, known.excerpt(span)
        span, excerpt = found
        return findings.Place(
            line=span.line,
            column=span.column,
            end_column=self._end(span, excerpt),
            excerpt=findings.Excerpt(text=excerpt.text, column=excerpt.column, end_column=excerpt.end_column),
        )

    def _written(self, document: reader.Document, pointer: str) -> tuple[reader.Span, reader.Excerpt] | None:
        """The place in a plainly written document; None where only the exact reader knows it."""
        prefix = self._item.prefix
        nearest = wanted = prefix + pointer
        while nearest != prefix and not self._exists(nearest):
            nearest = nearest.rpartition("/")[0]
        head = nearest == prefix and self._exists(nearest + _HEAD)
        return _places(document, reader.WrittenPlaces).find(
            nearest + _HEAD if head else nearest, shows_value=head or (nearest == wanted and self._is_scalar(nearest))
        )

    def _exists(self, pointer: str) -> bool:
        try:
            paths.resolve(self._item.document.value if self._item.document else None, pointer)
        except LookupError:
            return False
        return True

    @staticmethod
    def _end(span: reader.Span, excerpt: reader.Excerpt) -> int:
        """The end of a span in its first line. It covers at least one character, as the excerpt does."""
        if span.end_line == span.line:
            return max(span.end_column, span.column + 1)
        return span.column + excerpt.end_column - excerpt.column

    def _span(self, known: reader.Places, pointer: str) -> reader.Span:
        wanted = self._item.prefix + pointer
        nearest = wanted
        while nearest != self._item.prefix and nearest not in known:
            nearest = nearest.rpartition("/")[0]
        if nearest == self._item.prefix and nearest + _HEAD in known:
            return known[nearest + _HEAD]
        position = known.nearest(nearest)
        # A null may have no text; then its key gives the place.
        has_text = position.line == position.end_line and position.column < position.end_column
        shows_value = nearest == wanted and self._is_scalar(nearest) and has_text
        return position.key if position.key is not None and not shows_value else position

    def _is_scalar(self, pointer: str) -> bool:
        document = self._item.document
        try:
            value = paths.resolve(document.value if document else None, pointer)
        except LookupError:
            return False
        return not isinstance(value, dict | list)
