"""Shares the namespaces of a cluster among shards. The same namespace is in the same shard at every run."""

import hashlib
import re
from typing import Final

from usher import errors
from usher.dataclass import dataclass

MOST: Final = 10_000
_SPELLING: Final = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of `of` shards, counted from 0. Shard 0 also has the nodes and all that belongs to no namespace."""

    index: int = 0
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.of <= MOST:
            raise errors.InputError(f"{self.of} shards: there are 1 to {MOST:,}")
        if not 0 <= self.index < self.of:
            raise errors.InputError(f"shard {self.index} of {self.of}: shards count from 0 to {self.of - 1}")

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def is_whole(self) -> bool:
        return self.of == 1

    @property
    def is_merged(self) -> bool:
        """Whether other shards have the rest of the cluster."""
        return not self.is_whole

    @property
    def namespace(self) -> str:
        """A shard is no single namespace."""
        return ""

    @property
    def has_nodes(self) -> bool:
        return self.index == 0

    def has(self, namespace: str) -> bool:
        """Whether a namespace belongs to the shard; the empty one, of cluster-scoped objects, is in shard 0."""
        return home(namespace, self.of) == self.index if namespace else self.has_nodes


def home(namespace: str, of: int) -> int:
    """The index of the shard that a namespace belongs to, by the first eight bytes of its SHA-256, modulo `of`."""
    return int.from_bytes(hashlib.sha256(namespace.encode(errors="surrogatepass")).digest()[:8]) % of


def parse(text: str) -> Shard:
    """The shard of a text like `3/10`.

    Raises:
        InputError: the text is not INDEX/NUMBER, or the index is too large.
    """
    found = _SPELLING.fullmatch(text)
    if found is None:
        raise errors.InputError(f"{text[:50]!r} is not a shard; write INDEX/NUMBER, like 0/10 for the first of ten")
    return Shard(index=int(found[1]), of=int(found[2]))
