"""The options of `usher check` for a baseline: findings that are known already do not fail."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from usher import errors
from usher.cli import option_groups, output
from usher.dataclass import dataclass

if TYPE_CHECKING:
    from usher.check import findings
    from usher.check.baseline import Known

_LARGEST = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The values of the options."""

    baseline: Path | None
    ratchet: bool
    write_baseline: Path | None

    def read(self) -> "Known | None":
        """The known findings; None without a baseline.

        Raises:
            InputError: the file cannot be read, or is not a baseline.
            UsageError: the options contradict each other.
        """
        if self.ratchet and self.baseline is None:
            raise click.UsageError("--ratchet needs --baseline FILE")
        if self.baseline is None:
            return None
        from usher.check import baseline

        try:
            with self.baseline.open("rb") as stream:
                content = stream.read(_LARGEST + 1)
        except OSError as error:
            raise errors.InputError(f"{self.baseline}: cannot be read: {error.strerror}") from None
        if len(content) > _LARGEST:
            raise errors.InputError(f"{self.baseline}: larger than {_LARGEST // 2**20} MiB")
        return baseline.loads(content, source=str(self.baseline))

    def applied(self, found: "findings.Report", known: "Known | None") -> "findings.Report":
        """The report with only new findings. Writes the files that the options name.

        A failed run writes no file, because it does not know all findings.

        Raises:
            InputError: a file cannot be written.
        """
        if known is None and self.write_baseline is None:
            return found
        from usher.check import baseline, findings
        from usher.check.formats.wording import count

        if self.write_baseline is not None and not found.failed:
            # The baseline makes these findings known for later runs.
            known = baseline.of(found)
            self._write(self.write_baseline, known)
            click.echo(f"usher: {self.write_baseline}: {count(known.total(), 'finding')} written", err=True)
            return baseline.compared(found, known).report
        if known is None:
            return found
        compared = baseline.compared(found, known)
        reason = f"{count(compared.known, 'finding')} that the baseline knows"
        if compared.gone:
            reason += f"; {count(compared.gone, 'finding')} of it {'is' if compared.gone == 1 else 'are'} gone"
            if self.ratchet and self.baseline is not None and not found.failed:
                self._write(self.baseline, compared.remaining)
                reason += ", and removed from the file"
            else:
                reason += f" (--ratchet removes {'it' if compared.gone == 1 else 'them'})"
        note = findings.Note(source=str(self.baseline), reason=reason)
        return replace(compared.report, notes=(*found.notes, note))

    def _write(self, file: Path, known: "Known") -> None:
        from usher.check import baseline

        output.replace_bytes(file, baseline.dumps(known), what="baseline")


options = option_groups.as_value(
    "baseline",
    Baselines,
    click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Leave out the findings of this file: only new ones are reported and fail.",
    ),
    click.option("--ratchet", is_flag=True, help="Remove findings that are gone from the file of --baseline."),
    click.option(
        "--write-baseline",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write all findings of this run into a baseline.",
    ),
)
