"""Finds the parts in the given folders, and copies the files that count to this machine, with their digests checked."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from usher import errors
from usher.audit.document.fleet import FleetProblem, ProblemKind
from usher.dataclass import dataclass
from usher.fleet import parts, records, selection, stores

MOST_RECORDS: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A table of a part, on this machine."""

    table: str
    path: Path
    rows: int
    """As the record says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredRecords:
    found: tuple[selection.Found, ...]
    problems: tuple[FleetProblem, ...]
    """Records that cannot be read."""


def records_of(folders: Sequence[stores.Store]) -> GatheredRecords:
    """All records below the folders.

    Raises:
        InputError: a folder cannot be read, or has too many records.
    """
    found, problems = list[selection.Found](), list[FleetProblem]()
    for number, store in enumerate(folders):
        for name in store.find(records.NAME):
            if len(found) + len(problems) >= MOST_RECORDS:
                raise errors.InputError(f"{store.place}: more than {MOST_RECORDS:,} parts; merge fewer folders at once")
            folder = name.removesuffix(f"/{records.NAME}") if "/" in name else ""
            try:
                record = records.read(stores.read(store, name, most=records.MOST_BYTES))
            except (OSError, ValueError) as error:
                problems.append(damaged("", f"{store.place}/{name}", _reason(error)))
            else:
                found.append(selection.Found(store=number, folder=folder, record=record))
    return GatheredRecords(found=tuple(found), problems=tuple(problems))


def copied(
    found: selection.Found, store: stores.Store, target: Path, numbers: "count[int]", *, wanted: Collection[str]
) -> Iterator[Copied]:
    """Copies the wanted tables of a part, under names of our own.

    Raises:
        ValueError: a file is missing, or is not the one of the record; the message says which.
    """
    for file in found.record.files:
        if file.table not in wanted:
            continue
        path = target / f"{next(numbers)}.parquet"
        name = f"{found.folder}/{file.name}" if found.folder else file.name
        try:
            digest = stores.copy(store, name, path, most=min(file.size, parts.MOST_OF_A_FILE))
        except OSError as error:
            raise ValueError(f"{file.name}: {_reason(error)}") from None
        if digest != file.sha256:
            raise ValueError(f"{file.name}: its content is not that of the record")
        yield Copied(table=file.table, path=path, rows=file.rows)


def damaged(cluster: str, place: str, reason: str) -> FleetProblem:
    """A part that cannot be used, and so is missing."""
    return FleetProblem(kind=ProblemKind.DAMAGED, cluster=cluster, reason=f"{place}: {reason}; it is left out")


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
