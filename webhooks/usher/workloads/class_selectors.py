"""Reads the CEL selectors of a DeviceClass or a claim, as far as they compare an attribute with a text.

usher does not evaluate CEL. It reads comparisons joined by `&&`; any other expression can only narrow the selection or
make it unknown (docs/domain/device-claims.md#selectors).
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from usher.accelerators import mig

_TEXT: Final = r"""["']([A-Za-z0-9.+-]{1,253})["']"""
_DRIVERS: Final = (
    re.compile(r"device\.driver\s*==\s*" + _TEXT, re.ASCII),
    re.compile(_TEXT + r"\s*==\s*device\.driver\b", re.ASCII),
    # An attribute without a domain of its own has the driver's name as its domain.
    re.compile(r"device\.(?:attributes|capacity)\[\s*" + _TEXT + r"\s*\]", re.ASCII),
)
_ATTRIBUTE: Final = re.compile(
    r"""\(*\s*device\.attributes\[\s*["']gpu\.nvidia\.com["']\s*\]\.(type|profile)\s*==\s*"""
    + _TEXT
    + r"""(?:\.lowerAscii\(\))?\s*\)*""",
    re.ASCII,
)
# Operators that join comparisons in other ways than `&&`.
_OTHER: Final = re.compile(r"\|\||\?|!(?!=)")

# A comparison of one attribute with one value. Users write the selectors of claims: a comparison inside a text, a
# comment, brackets or a call of a function may select nothing, so no part may hold any of them.
_VALUE: Final = r"""(?:"[^"'&\\\n]{0,253}"|'[^"'&\\\n]{0,253}'|[0-9]{1,19}|true|false)"""
_PLAIN: Final = re.compile(
    r"""device\.(?:driver|(?:attributes|capacity)\[\s*["'][A-Za-z0-9.-]{1,253}["']\s*\]\.[A-Za-z0-9_]{1,63})"""
    r"(?:\.lowerAscii\(\))?\s*"
    rf"(?:(?:==|!=|<=|>=|<|>)\s*{_VALUE}|\.[A-Za-z]{{1,30}}\(\s*(?:{_VALUE}|quantity\({_VALUE}\))\s*\))",
    re.ASCII,
)

_TYPES: Final = {"gpu": "gpu.nvidia.com", "mig": "mig.nvidia.com", "vfio": "vfio.gpu.nvidia.com"}
_NVIDIA: Final = "gpu.nvidia.com"


class Selected(NamedTuple):
    """The devices that the selectors of a class select."""

    drivers: tuple[str, ...]
    """The drivers whose devices they may select; empty if they do not name any."""
    like: str
    """The NVIDIA class, or the resource of a MIG profile, that they select; empty if they do not name one."""


def is_plain(expression: str) -> bool:
    """Whether an expression only joins comparisons by `&&`, so that each of them holds for its devices."""
    return all(_PLAIN.fullmatch(part.strip()) for part in expression.split("&&"))


def selected(expressions: Sequence[str]) -> Selected:
    """The devices that all of the expressions select together. Kubernetes joins the selectors of a class by "and"."""
    drivers = tuple(
        dict.fromkeys(name for text in expressions for pattern in _DRIVERS for name in pattern.findall(text))
    )
    said: dict[str, str] = {}
    for text in expressions:
        if _OTHER.search(text) is None:
            for part in text.split("&&"):
                found = _ATTRIBUTE.fullmatch(part.strip())
                if found is not None:
                    said[found[1]] = found[2]
    return Selected(drivers, _like(said) if drivers == (_NVIDIA,) else "")


def _like(said: dict[str, str]) -> str:
    profile = mig.parse_profile(said["profile"]) if "profile" in said else None
    if profile is not None and said.get("type", "mig") == "mig":
        return profile.resource
    return _TYPES.get("mig" if "profile" in said else said.get("type", ""), "")
