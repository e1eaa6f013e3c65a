"""Kinds that a section of the audit reads in addition to workloads, nodes and pods."""

from dataclasses import replace

from usher import paths
from usher.dataclass import dataclass
from usher.kinds.kind import FactKind, Keep, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A kind whose objects a section finds in `Estate.objects`.

    An audit lists it in the first of the versions that the API server serves. It keeps only what `keep` returns.
    `Estate.objects` has `Absence.MISSING` for a kind that the API server does not serve, and `Absence.NOT_KNOWN` for
    one that usher may not list or that the source does not hold. usher never reads Secrets.
    """

    group: str
    versions: tuple[str, ...]
    """The versions that the section understands, the best first."""
    plural: str
    kind: str
    keep: Keep
    """The fields to keep; see `usher.kinds.kind.keeping`."""

    def __post_init__(self) -> None:
        if (self.group, self.kind) == ("", "Secret"):
            raise ValueError("an audit never reads Secrets")

    @property
    def key(self) -> Key:
        """Group and kind, as in `Estate.objects`."""
        return self.group, self.kind

    def joined(self, other: "Wanted") -> "Wanted":
        """The same kind with the fields of both."""

        def keep(value: paths.Object) -> paths.Object:
            return _joined(self.keep(value), other.keep(value))

        return replace(self, keep=keep)

    @property
    def fact_kind(self) -> FactKind:
        """The kind as usher reads it from a cluster."""
        return FactKind(group=self.group, versions=self.versions, kind=self.kind, plural=self.plural, keep=self.keep)

    @property
    def resource(self) -> str:
        """The resource as in `kubectl get`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _joined(one: paths.Object, other: paths.Object) -> paths.Object:
    result = dict(one)
    for key, value in other.items():
        before = result.get(key)
        result[key] = _joined(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return result
