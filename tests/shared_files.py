"""The files that tests take from ../shared, and their replacements if that folder is missing.

../shared stands beside the checkout, not in this repository: `crds/` are definitions and `corpus/` manifests,
as other projects publish them. In a clone without it the tests use our own definitions (kind_definitions.py), and of
manifests only our own (tests/data/corpus). With `USHER_TEST_SHARED=none` they behave as in that clone.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = Path(__file__).parents[2] / "shared"
LEFT_OUT: Final = "needs ../shared, which is not here: "
"""What the reason of every test begins with that is left out for want of ../shared; its subject follows."""

_CHOSEN: Final = os.environ.get("USHER_TEST_SHARED", "")

if _CHOSEN not in {"", "none"}:
    raise pytest.UsageError(f"USHER_TEST_SHARED is {_CHOSEN!r}: set it to `none` or unset it")


def is_there() -> bool:
    """Whether the tests may use ../shared."""
    return not _CHOSEN and FOLDER.is_dir()


def needs_shared(subject: str) -> pytest.MarkDecorator:
    """For a test that proves nothing without ../shared. The end of a run counts those that were left out by subject."""
    return pytest.mark.skipif(not is_there(), reason=f"{LEFT_OUT}{subject}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A folder of manifests, with INDEX.tsv: path, group, kind, name and has_accelerator_request of each document."""

    name: str
    folder: Path


OWN: Final = Corpus(name="own", folder=Path(__file__).parent / "data" / "corpus")
PUBLISHED: Final = Corpus(name="published", folder=FOLDER / "corpus")

corpora: Final = [
    pytest.param(OWN, id=OWN.name),
    pytest.param(PUBLISHED, id=PUBLISHED.name, marks=needs_shared("manifests of public projects")),
]
"""For `pytest.mark.parametrize`: our own manifests, and the published ones where they are there."""


def available() -> list[Corpus]:
    return [OWN, PUBLISHED] if is_there() else [OWN]
