"""Versions as numbers, the ends of Kubernetes releases, and container escapes of NVIDIA's toolkit."""

import re
from datetime import date
from typing import Final

from usher.dataclass import dataclass

_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])", re.ASCII)

Version = tuple[int, int, int]


def read(text: str) -> Version | None:
    """The numbers at the start of a version: (1, 17, 8) from `v1.17.8-ubuntu20.04`; None from other texts."""
    found = _VERSION.match(text[:64])
    if found is None:
        return None
    major, minor, patch = found.groups()
    return int(major), int(minor), int(patch or 0)


def of_image(image: str) -> Version | None:
    """The version in the tag of an image; None for a digest and for other tags."""
    name, _, _ = image.partition("@")
    head, colon, tag = name.rpartition(":")
    return read(tag) if colon and "/" not in tag and head else None


ENDS: Final = {
    (1, 30): date(2025, 6, 28),
    (1, 31): date(2025, 10, 28),
    (1, 32): date(2026, 2, 28),
    (1, 33): date(2026, 6, 28),
    (1, 34): date(2026, 10, 27),
    (1, 35): date(2027, 2, 28),
    (1, 36): date(2027, 6, 28),
    (1, 37): date(2027, 10, 28),
}
"""The last day with patches of each release of Kubernetes (https://kubernetes.io/releases/, read 2026-11-23)."""

SKEW: Final = 3
"""A kubelet may be this many minor versions older than the API server, and not newer
(https://kubernetes.io/releases/version-skew-policy/).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escape:
    """A vulnerability of NVIDIA's container toolkit that lets a container escape."""

    cve: str
    last: Version
    """The last affected version by its CVE record."""

    @property
    def last_text(self) -> str:
        return ".".join(map(str, self.last))


ESCAPES: Final = (
    Escape(cve="CVE-2024-0132", last=(1, 16, 1)),
    Escape(cve="CVE-2025-23359", last=(1, 17, 3)),
    Escape(cve="CVE-2025-23266", last=(1, 17, 7)),
    Escape(cve="CVE-2026-24260", last=(1, 19, 0)),
)
"""Records at https://www.cve.org/CVERecord?id=CVE, read 2026-11-23. Each lets a container reach the files of its host,
or run code there with other rights. The check toolkit-version-vulnerable asks for the version after the last one
(https://nvidia.custhelp.com/app/answers/detail/a_id/5850 names it), unless usher.yaml sets another.
"""
