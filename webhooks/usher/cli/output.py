"""Writes reports: the options, the formats, the colours, the files and the progress.

A new format is a function `write(found: findings.Report, stream: TextIO, /)` in a module of `usher.check.formats`, and
a row in formats.yaml. A format of audits is a function `write(audit: Audit, stream: TextIO, /)` in
`usher.audit.reports`. One that needs several files has `files(audit)` instead, which yields pairs of file name and
bytes. `--help` lists the formats, and has to be quick, so the rows name functions by their modules.
"""

import contextlib
import io
import os
import pkgutil
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

import click
import msgspec
from click.shell_completion import CompletionItem
from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model
from usher.check import findings
from usher.check.findings import Ending
from usher.cli import main


class Format(Struct, frozen=True, forbid_unknown_fields=True):
    """One format of a report, as formats.yaml describes it."""

    reader: str
    run: str = ""
    audit: str = ""
    is_folder: bool = False
    for_terminals: bool = False
    names_failures: bool = False


class _Described(Struct, frozen=True, forbid_unknown_fields=True):
    formats: dict[str, Format]
    fleet: dict[str, str]


_DESCRIBED: Final = msgspec.json.decode(Path(__file__).with_name("formats.json").read_bytes(), type=_Described)
FORMATS: Final = _DESCRIBED.formats
"""Formats by the name for `--format`; the first is the default."""
FLEET_FORMATS: Final = _DESCRIBED.fleet
"""The function of each format of the merged audits of a fleet: `write(fleet: Fleet, stream: TextIO, /)`."""


def format_names(*, audits: bool) -> tuple[str, ...]:
    """The formats of `usher audit`, or of commands that make no audit document."""
    return tuple(name for name, each in FORMATS.items() if audits or each.run)


class WholeFile(Struct, frozen=True, kw_only=True):
    path: Path
    content: bytes


def replace_files(files: Sequence[WholeFile], *, what: str) -> None:
    """Replaces the files after all new contents are on the disk. Pipes and devices are written last.

    Raises:
        InputError: one of the files cannot be written; the message names it and `what`, and the old files are
            unchanged.
    """
    regular = [each for each in files if not _is_special(each.path)]
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for each in regular:
            path = each.path
            target = path.resolve()
            # Registered before the file exists: a signal at any moment leaves no file behind.
            staged.append((target, target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")))
            _stage(each.content, target, staged[-1][1])
        for path, temporary in staged:
            temporary.replace(path)
        for each in files:
            if each not in regular:
                path = each.path
                path.write_bytes(each.content)  # /dev/stdout, a pipe
    except OSError as error:
        raise errors.InputError(f"{path}: the {what} cannot be written: {error.strerror}") from None
    finally:
        for _, temporary in staged:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return not stat.S_ISREG(path.stat().st_mode)
    return False


def _stage(content: bytes, target: Path, temporary: Path) -> None:
    """Writes a new file, with the content on the disk and the permissions of `target`."""
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fchmod(stream.fileno(), _mode(target))
        os.fsync(stream.fileno())


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or the default ones of a new file."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask


class Target(Struct, frozen=True, kw_only=True):
    """One report to write."""

    format_name: str
    path: Path | None
    """None for standard output."""


class Outcome(Struct, frozen=True, kw_only=True):
    """The results of a run: the findings, and the document of an audit."""

    found: findings.Report
    audit: object | None = None


def check_places(targets: Sequence[Target]) -> None:
    """Looks for the folders of reports before the run, which may take minutes.

    Raises:
        InputError: a folder does not exist.
    """
    for each in targets:
        if each.path is not None and not each.path.resolve().parent.is_dir():
            raise errors.InputError(
                f"{each.path}: the report cannot be written: the folder {each.path.parent} does not exist; make it"
            )


def write(outcome: Outcome, targets: Sequence[Target], *, color: str, quiet: bool = False) -> None:
    """Writes the reports: first those in files, each whole or not at all, then the one on standard output.

    Failures also go to standard error, unless a person sees them on standard output.

    Raises:
        InputError: a report cannot be written.
    """
    files = [file for each in targets if each.path is not None for file in _files(outcome, each, each.path, quiet)]
    replace_files(files, what="report")
    on_stdout = next((each.format_name for each in targets if each.path is None), None)
    if on_stdout is None and not quiet and sys.stderr.isatty():
        click.echo(f"usher: wrote {', '.join(str(each.path) for each in targets)}", err=True)
    if on_stdout is not None:
        try:
            _write(outcome, FORMATS[on_stdout], sys.stdout, color=colored(color), quiet=quiet)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise errors.InputError(f"standard output: the report cannot be written: {error.strerror}") from None
    if on_stdout is None or not FORMATS[on_stdout].names_failures:
        _print_failures(outcome.found)


def replace_report(path: Path, text: str) -> None:
    """Writes a report like `replace_file`."""
    replace_file(path, text.encode(errors="backslashreplace"), what="report")


def replace_file(path: Path, content: bytes, *, what: str) -> None:
    """Replaces the content of a file. At every moment the file holds either all of the old or all of the new content.

    Raises:
        InputError: the file cannot be written; the message names `what`, and the old file is unchanged.
    """
    replace_files([WholeFile(path=path, content=content)], what=what)


def _files(outcome: Outcome, target: Target, path: Path, quiet: bool) -> list[WholeFile]:
    chosen = FORMATS[target.format_name]
    if not chosen.is_folder:
        # Encoded during the write, so that a large report is in memory only once.
        content = io.BytesIO()
        stream = io.TextIOWrapper(content, encoding="utf-8", errors="backslashreplace", newline="\n")
        _write(outcome, chosen, stream, color=False, quiet=quiet)
        stream.flush()
        return [WholeFile(path=path, content=content.getvalue())]
    tables = pkgutil.resolve_name(chosen.audit)(_audit(outcome, chosen))
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise errors.InputError(f"{path}: the folder of the report cannot be made: {error.strerror}") from None
    return [WholeFile(path=path / name, content=content) for name, content in tables]


def _write(outcome: Outcome, chosen: Format, stream: TextIO, *, color: bool, quiet: bool) -> None:
    options = {"color": color, "quiet": quiet} if chosen.for_terminals else {}
    if chosen.audit and (outcome.audit is not None or not chosen.run):
        pkgutil.resolve_name(chosen.audit)(_audit(outcome, chosen), stream, **options)
    else:
        pkgutil.resolve_name(chosen.run)(outcome.found, stream, **options)


def _audit(outcome: Outcome, chosen: Format) -> object:
    if outcome.audit is None:
        raise errors.InputError(f"a report for {chosen.reader} needs an audit document, which this run has not made")
    return outcome.audit


def colored(choice: str) -> bool:
    """Whether to write colours: --color decides, then NO_COLOR (https://no-color.org), then the terminal."""
    if choice != "auto":
        return choice == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def _print_failures(found: findings.Report) -> None:
    from usher.check.formats import wording

    for problem in found.problems:
        click.echo(f"usher: {wording.printable(wording.located(problem))}", err=True)
    for failure in found.failures:
        click.echo(f"usher: {wording.printable(f'{failure.source}: {failure.identity}: {failure.reason}')}", err=True)


_DEFAULT: Final = next(iter(FORMATS))


class Reporting(Struct, frozen=True, kw_only=True):
    """How a command reports, by its options."""

    targets: tuple[Target, ...]
    color: str
    quiet: bool
    policy: main.Policy

    @staticmethod
    def of_options(values: dict[str, Any]) -> "Reporting":
        found = Reporting(
            targets=_targets(values.pop("formats"), values.pop("output")),
            color=values.pop("color"),
            quiet=values.pop("quiet"),
            policy=main.Policy(
                fail_on=main.FailOn(values.pop("fail_on")),
                profile=main.PROFILES[values.pop("profile")],
                require_match=values.pop("require_match"),
            ),
        )
        try:
            check_places(found.targets)
        except errors.InputError as error:
            raise found.failure(error) from error
        return found

    def failure(self, error: errors.UsherError) -> main.CommandFailed:
        """The end of the command that an error of usher has, with the code that --exit-codes gives it."""
        return main.CommandFailed(str(error), code=self.policy.profile.failed)

    def finish(self, found: findings.Report, *, allow_unknown: bool = True, audit: object | None = None) -> int:
        """Writes the reports, and returns the exit code.

        Writes the reason for a failure without findings to standard error.

        Args:
            allow_unknown: whether parts of workloads that usher cannot judge are accepted.
            audit: the document of an audit, which its formats show.

        Raises:
            InputError: a report cannot be written.
        """
        ending = decide(found, self.policy._replace(allow_unknown=allow_unknown))
        outcome = Outcome(found=replace(found, ending=ending), audit=audit)
        write(outcome, self.targets, color=self.color, quiet=self.quiet)
        if ending.explained:
            click.echo(f"usher: {ending.reason}", err=True)
        return ending.code


class _Format(click.ParamType[Target]):
    """NAME or NAME=FILE."""

    name = "format"

    def __init__(self, *, audits: bool) -> None:
        self._names = format_names(audits=audits)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return "NAME[=FILE]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Target:
        name, equals, file = str(value).partition("=")
        if name not in self._names:
            only = " is a format of `usher audit`; here it" if name in FORMATS else ""
            self.fail(f"{name!r}{only} is not one of {', '.join(map(repr, self._names))}.", param, ctx)
        place = "FOLDER" if FORMATS[name].is_folder else "FILE"
        if equals and not file:
            self.fail(f"{value!r} names no file; write {name}={place}, or {name} for standard output.", param, ctx)
        path = Path(file) if file and file != "-" else None
        if FORMATS[name].is_folder and (
            path is None or path.is_file() or (path.suffix == f".{name}" and not file.endswith("/"))
        ):
            self.fail(f"{name} is several files; name a folder for them: {name}=FOLDER.", param, ctx)
        return Target(format_name=name, path=path)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002 - click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        if "=" in incomplete:
            return [CompletionItem(incomplete.partition("=")[2], type="file")]
        return [CompletionItem(name, help=FORMATS[name].reader) for name in self._names if name.startswith(incomplete)]


RUN_FORMAT: Final = _Format(audits=False)
AUDIT_FORMAT: Final = _Format(audits=True)


def readers(*, audits: bool) -> str:
    """The formats of a command, each with its reader."""
    return ", ".join(f"{name} for {FORMATS[name].reader}" for name in format_names(audits=audits))


def _targets(formats: tuple[Target, ...], file: Path | None) -> tuple[Target, ...]:
    """The reports to write, in the order of the command line.

    Raises:
        UsageError: two reports would be written to one place.
    """
    targets = formats or (Target(format_name=_DEFAULT, path=None),)
    if file is not None:
        if len(targets) > 1 or targets[0].path is not None:
            raise click.UsageError("--output is for a single --format NAME; with several, write --format NAME=FILE")
        return (replace(targets[0], path=file),)
    places = [None if each.path is None else each.path.resolve() for each in targets]
    if places.count(None) > 1:
        names = " and ".join(each.format_name for each in targets if each.path is None)
        raise click.UsageError(
            f"standard output holds one document, not {names}; write all but one as --format NAME=FILE"
        )
    twice = next((each for each, place in zip(targets, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        raise click.UsageError(f"two reports cannot be written to one file: {twice.path}")
    return targets


Watch = Callable[[str, int, int], None]
"""Takes the noun, the number done, and the total; the total is 0 if it is unknown."""

_AFTER: Final = 1.0
"""Seconds until a run counts as long."""
_EVERY: Final = 0.1
"""Seconds between two lines."""
_ERASE: Final = "\r\x1b[K"


class ProgressLine:
    """Writes the numbers over each other, on one line."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + _AFTER
        self._written = False

    def __call__(self, things: str, done: int, total: int) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next, self._written = now + _EVERY, True
        of_all = f" of {total:,}" if total else ""
        self._stream.write(f"{_ERASE}usher: {done:,}{of_all} {things}")
        self._stream.flush()

    def erase(self) -> None:
        if self._written:
            self._stream.write(_ERASE)
            self._stream.flush()


@contextlib.contextmanager
def show_progress(*, quiet: bool) -> Iterator[Watch]:
    """Shows the numbers on standard error if that is a terminal, and not that of a CI system."""
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    if quiet or not terminal:
        yield lambda _things, _done, _total: None
        return
    line = ProgressLine(sys.stderr)
    try:
        yield line
    finally:
        line.erase()


def decide(found: findings.Report, policy: main.Policy) -> Ending:
    """The exit code of a run. Failures come first, because an incomplete run proves nothing."""
    failing = _failing(policy.fail_on)
    outcomes = {finding.judgement.outcome for result in found.results for finding in result.findings} & failing
    profile, explained = policy.profile, False
    if found.failed:
        code, reason = profile.failed, "an input could not be read, or an object could not be judged"
    elif model.Outcome.DENY in outcomes:
        code = profile.denied_with_milder if len(failing) > 1 else profile.denied
        reason = "something is denied"
    elif outcomes:
        code, reason = profile.milder, f"there are findings, and --fail-on {policy.fail_on} counts them"
    elif found.unread and not policy.allow_unknown:
        code, explained = profile.failed, True
        reason = (
            f"some parts could not be judged, so this does not pass (exit code {code}); --allow-unknown accepts them"
        )
    elif policy.require_match and not any(result.makes_pods and not result.exemption for result in found.results):
        code, explained = profile.failed, True
        reason = f"no workload was judged, so this does not pass with --require-match (exit code {code})"
    else:
        code, reason = 0, "nothing fails"
    return Ending(code=code, reason=reason, explained=explained, failing=failing, unknown_accepted=policy.allow_unknown)


def _failing(fail_on: main.FailOn) -> frozenset[model.Outcome]:
    if fail_on is main.FailOn.NEVER:
        return frozenset()
    worst_first = list(model.Outcome)
    return frozenset(worst_first[: worst_first.index(model.Outcome(fail_on.value)) + 1])
