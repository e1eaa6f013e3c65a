"""The fields of a pod spec, each read where it stands."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from usher import model, paths
from usher.reading import pod_shapes
from usher.reading import shapes as reading_shapes
from usher.reading.templates import LISTS, TERMS, ContainerPlace, Place, Template, listed
from usher.reading.values import Reading

_OF_TOLERATION: Final = frozenset({"key", "operator", "value", "effect"})
_EMPTY: Final[Mapping[str, paths.Json]] = MappingProxyType({})


class PodSpec:
    """Reads one template's spec; most of its fields are missing in most pods, which costs next to nothing."""

    __slots__ = ("_elsewhere", "_reading", "_spec", "_spec_path", "_value")

    def __init__(self, template: Template, reading: Reading) -> None:
        self._reading = reading
        self._spec_path = template.spec.path
        self._spec = reading.mapping(template.spec.value, template.spec.path)
        self._elsewhere = template.fields
        self._value: Callable[[str], object] = self._moved if template.fields else self._spec.get

    def path(self, field: str) -> str:
        return self._elsewhere[field].path if field in self._elsewhere else f"{self._spec_path}/{field}"

    def text(self, field: str) -> str:
        value = self._value(field)
        return "" if value is None else self._reading.text(value, self.path(field))

    def strings(self, field: str) -> Mapping[str, str]:
        value = self._value(field)
        return {} if value is None else self._reading.strings(value, self.path(field))

    def resources(self, field: str, path: str = "") -> model.Resources:
        """The quantities of a field, or of one inside it."""
        value = self._value(field)
        if value is None:
            return {}
        if path:
            inner = self._reading.mapping(value, self.path(field)).get(path)
            return self._reading.resources(inner, f"{self.path(field)}/{path}")
        return self._reading.resources(value, self.path(field))

    def mapping(self, field: str) -> Mapping[str, paths.Json]:
        value = self._value(field)
        return _EMPTY if value is None else self._reading.mapping(value, self.path(field))

    def items(self, field: str) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
        value = self._value(field)
        if value is not None:
            yield from self._reading.items(value, self.path(field))

    def containers(self) -> Iterator[ContainerPlace]:
        lists = {name: Place(value, self.path(name)) for name, _ in LISTS if (value := self._value(name)) is not None}
        return listed(lists, self._reading)

    def tolerations(self) -> Iterator[Mapping[str, paths.Json]]:
        for path, toleration in self.items("tolerations"):
            for field, value in toleration.items():
                if not isinstance(value, str) and field in _OF_TOLERATION:
                    self._reading.text(value, f"{path}/{field}")
            yield toleration

    def required_terms(self) -> tuple[Mapping[str, paths.Json], ...] | None:
        """None without required node affinity; one without terms is something else, for it matches no node."""
        place = self._elsewhere.get(TERMS) or self._terms()
        if place is None:
            return None
        terms = tuple(self._reading.items(*place))
        for term_path, term in terms:
            for field in ("matchExpressions", "matchFields"):
                for path, expression in self._reading.items(term.get(field), f"{term_path}/{field}"):
                    self._reading.text(expression.get("key"), path + "/key")
                    self._reading.text(expression.get("operator"), path + "/operator")
                    self._reading.texts(expression.get("values"), path + "/values")
        return tuple(term for _, term in terms)

    def _terms(self) -> Place | None:
        value = self._value("affinity")
        if value is None:
            return None
        path = self.path("affinity")
        for key in ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
            if value is None:
                return None
            value = self._reading.mapping(value, path).get(key)
            path = f"{path}/{key}"
        if value is None:
            return None
        return Place(self._reading.mapping(value, path).get(TERMS), f"{path}/{TERMS}")

    def fields(self) -> Mapping[str, Any]:
        """What else rules read, as it is written."""
        found: Mapping[str, Any] = _EMPTY
        if not pod_shapes.POD_SPEC_FIELDS.isdisjoint(self._spec):
            found = reading_shapes.read(pod_shapes.POD_SPEC, self._spec, self._spec_path, self._reading.also_unknown)
        if not self._elsewhere:
            return found
        moved = {name: place for name, place in self._elsewhere.items() if name in pod_shapes.POD_SPEC_FIELDS}
        if not moved:
            return found
        result = {name: value for name, value in found.items() if name not in moved}
        for name, place in moved.items():
            result |= reading_shapes.read(
                pod_shapes.POD_SPEC, {name: place.value}, paths.ROOT, self._told_at(name, place.path)
            )
        return result

    def _told_at(self, field: str, path: str) -> Callable[[str, str], None]:
        """Tells what is unknown in a field at the place where the field stands."""
        return lambda found, reason: self._reading.also_unknown(path + found.removeprefix(f"/{field}"), reason)

    def _moved(self, field: str) -> object:
        return self._elsewhere[field].value if field in self._elsewhere else self._spec.get(field)
