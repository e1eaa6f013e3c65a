"""Public manifests and definitions that tests use, and the repository's own where these are missing.

They are a folder that is not part of this repository: `corpus/` holds manifests and `crds/` definitions (CRDs), as
other projects publish them. docs/testing.md says how to make one. The variable USHER_TEST_CORPUS names the folder;
without it `../shared` beside the checkout is used, if it is there. With `USHER_TEST_CORPUS=own`, or without a folder,
tests use our own definitions (kind_definitions.py) and our own manifests (tests/data/corpus).
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

VARIABLE: Final = "USHER_TEST_CORPUS"
OWN_ALONE: Final = "own"
"""The value of the variable that leaves public manifests out."""
LEFT_OUT: Final = "needs public files: "
"""The reason of every test that is left out without them begins so; its subject follows."""

_PARTS: Final = ("corpus/INDEX.tsv", "crds")
_CHOSEN: Final = os.environ.get(VARIABLE, "")

FOLDER: Final = Path(_CHOSEN if _CHOSEN not in {"", OWN_ALONE} else Path(__file__).parents[2] / "shared")


def _missing() -> list[str]:
    return [str(FOLDER / part) for part in _PARTS if not (FOLDER / part).exists()]


if _CHOSEN not in {"", OWN_ALONE} and _missing():
    raise pytest.UsageError(
        f"{VARIABLE} is {_CHOSEN!r}, but {' and '.join(_missing())} cannot be found. Name a folder with corpus/ and "
        f"crds/ (docs/testing.md, Public manifests), or {OWN_ALONE!r}."
    )


def is_there() -> bool:
    """Whether tests use public manifests and definitions."""
    return _CHOSEN != OWN_ALONE and not _missing()


def is_chosen() -> bool:
    """Whether the variable names a folder of public manifests and definitions."""
    return _CHOSEN not in {"", OWN_ALONE}


def needs_shared(subject: str) -> pytest.MarkDecorator:
    """Marks a test that proves nothing without public files. The end of a run counts the tests that were left out."""
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

thorough_corpora: Final = [
    pytest.param(OWN, id=OWN.name),
    pytest.param(
        PUBLISHED, id=PUBLISHED.name, marks=[needs_shared("manifests of public projects"), pytest.mark.thorough]
    ),
]
"""The same for tests that take long with the published manifests: a change is tried with our own manifests alone."""


def available() -> list[Corpus]:
    return [OWN, PUBLISHED] if is_there() else [OWN]
