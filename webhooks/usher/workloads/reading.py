"""Reading manifests that may hold anything: whatever has the wrong type is recorded as unknown, never guessed."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from usher import errors, model, paths, quantities

MAX_PODS = 10_000_000
"""More pods than any cluster holds: a count beyond it is a mistake, and would only make totals absurd."""

_EMPTY: Mapping[str, paths.Json] = {}

_parse_quantity = lru_cache(maxsize=4096)(quantities.parse)


class Reading:
    """Collects what could not be read while one object is normalised."""

    __slots__ = ("unknowns",)

    def __init__(self) -> None:
        self.unknowns: list[model.Unknown] = []

    def unknown(self, path: str, reason: str) -> None:
        self.unknowns.append(model.Unknown(path=path, reason=reason))

    def mapping(self, value: object, path: str) -> Mapping[str, paths.Json]:
        """The value as an object; empty when it is missing or something else."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unknown(path, f"expected an object, found {_type_name(value)}")
        return _EMPTY

    def items(self, value: object, path: str) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
        """The objects of a list, each with its path; whatever is no object is left out and recorded."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                item_path = f"{path}/{index}"
                if isinstance(item, dict):
                    yield item_path, item
                else:
                    self.unknown(item_path, f"expected an object, found {_type_name(item)}")
        elif value is not None:
            self.unknown(path, f"expected a list, found {_type_name(value)}")

    def strings(self, value: object, path: str) -> Mapping[str, str]:
        """Labels, annotations, a node selector: an object of strings."""
        if value is None:
            return {}
        entries = self.mapping(value, path)
        result = {}
        for key, entry in entries.items():
            if isinstance(entry, str):
                result[key] = entry
            elif entry is not None:
                self.unknown(paths.join(path, key), f"expected a string, found {_type_name(entry)}; quote it")
        return result

    def text(self, value: object, path: str) -> str:
        if isinstance(value, str):
            return value
        if value is not None:
            self.unknown(path, f"expected a string, found {_type_name(value)}")
        return ""

    def count(self, value: object, path: str, *, default: int) -> int:
        """A number of pods; the default stands for a missing or unusable one."""
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.unknown(path, f"expected a whole number, found {_type_name(value)}")
            return default
        if not 0 <= value <= MAX_PODS:
            self.unknown(path, f"{value} is not a number of pods that a cluster can hold")
            return default
        return value

    def resources(self, value: object, path: str) -> dict[str, quantities.Quantity]:
        """`requests` or `limits`; a quantity that cannot be parsed is left out and recorded."""
        result = {}
        for name, text in self.mapping(value, path).items():
            try:
                # Hashing by type as well keeps 1, 1.0 and True apart in the cache's eyes.
                result[name] = _parse_quantity(text) if isinstance(text, str) else quantities.parse(text)
            except errors.QuantityError as error:
                self.unknown(paths.join(path, name), str(error))
        return result


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
