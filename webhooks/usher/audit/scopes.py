"""Which part of a cluster an audit is about: all of it, one namespace, or a shard (`usher.audit.store.shards`)."""

from typing import Final, Protocol

from usher.dataclass import dataclass


class Scope(Protocol):
    """The namespaces whose workloads and pods an audit reads. Facts, and the shares of devices, need all nodes."""

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole cluster."""
        ...

    @property
    def is_merged(self) -> bool:
        """Whether a merge combines it with all other parts; otherwise its report stands alone."""
        ...

    @property
    def has_nodes(self) -> bool:
        """Whether it includes the numbers of nodes, and objects without a namespace."""
        ...

    @property
    def namespace(self) -> str:
        """Its name if it is one namespace; else empty."""
        ...

    def has(self, namespace: str) -> bool:
        """Whether a namespace belongs to it; the empty name stands for objects without a namespace."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """The whole cluster."""

    @property
    def is_whole(self) -> bool:
        return True

    @property
    def is_merged(self) -> bool:
        return False

    @property
    def has_nodes(self) -> bool:
        return True

    @property
    def namespace(self) -> str:
        return ""

    def has(self, namespace: str) -> bool:
        del namespace
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNamespace:
    """One namespace, without nodes and without objects outside of it."""

    name: str

    @property
    def is_whole(self) -> bool:
        return False

    @property
    def is_merged(self) -> bool:
        return False

    @property
    def has_nodes(self) -> bool:
        return False

    @property
    def namespace(self) -> str:
        return self.name

    def has(self, namespace: str) -> bool:
        return namespace == self.name


WHOLE: Final = Whole()
