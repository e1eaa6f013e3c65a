"""The options for the record of `usher serve`, which `usher replay` reads, and the settings that follow from them."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from usher import errors
from usher.cli import option_groups
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.server import recorder

_SHORTEST_KEY: Final = 16
"""The fewest bytes of a key, so that it cannot be guessed."""

_LARGEST_KEY: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the options."""

    record_file: Path | None
    record_size: int
    """Size in MiB."""
    record_anonymised: bool
    record_key: Path | None

    def settings(self) -> "recorder.Settings | None":
        """The settings of the record; None to record nothing.

        Raises:
            InputError: the key cannot be read, or is too short.
            UsageError: an option misses the one that it belongs to.
        """
        from usher.server import recorder

        if self.record_file is None:
            if self.record_anonymised or self.record_key is not None:
                raise click.UsageError("--record-anonymised and --record-key need --record FILE")
            return None
        if self.record_key is not None and not self.record_anonymised:
            raise click.UsageError("--record-key needs --record-anonymised")
        key = None
        if self.record_anonymised:
            key = secrets.token_bytes(32) if self.record_key is None else _key(self.record_key)
        return recorder.Settings(file=self.record_file, size=self.record_size * recorder.MEBIBYTE, key=key)


options = option_groups.as_value(
    "record",
    Options,
    click.option(
        "--record",
        "record_file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Record the reviews of /validate for `usher replay`, without values of variables (docs/replay.md).",
    ),
    click.option(
        "--record-size",
        type=click.IntRange(1, 65_536),
        default=64,
        show_default=True,
        metavar="MIB",
        help="With --record: at this size FILE is renamed to FILE.1 and begun again.",
    ),
    click.option(
        "--record-anonymised",
        is_flag=True,
        help="With --record: replace names of namespaces, objects, users and images by hashes.",
    ),
    click.option(
        "--record-key",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="With --record-anonymised: the key of the hashes, for equal hashes in all replicas [default: a new one "
        "for each start].",
    ),
)


def _key(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            key = stream.read(_LARGEST_KEY).strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise errors.InputError(f"--record-key: {file} cannot be read: {reason}") from None
    if len(key) < _SHORTEST_KEY:
        raise errors.InputError(
            f"--record-key: {file} holds {len(key)} bytes; a key needs {_SHORTEST_KEY} or more, "
            "for example of `openssl rand -hex 32`"
        )
    return key
