"""The command `usher`: its sub-commands, and the exit code and message of every error."""

import atexit
import contextlib
import errno
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from types import FrameType
from typing import Final, NamedTuple, NoReturn, TextIO

import click
from click import shell_completion

from usher import __version__, errors

FINDINGS: Final = 1
"""At least one finding is denied."""
FAILED: Final = 2
"""An object could not be read, judged or written, so the run proves nothing."""


class FailOn(StrEnum):
    """The mildest outcome that ends a command as failed."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    NEVER = "never"


class Profile(NamedTuple):
    """Exit codes as another tool has them, for pipelines that were written for it."""

    denied: int
    """At least one finding is denied."""
    failed: int
    """An object could not be read or judged, so the run proves nothing."""
    denied_with_milder: int
    """At least one finding is denied, and --fail-on names milder findings too."""
    milder: int
    """No finding is denied, but there are findings that --fail-on names."""


PROFILES: Final = {
    "usher": Profile(denied=FINDINGS, failed=FAILED, denied_with_milder=FINDINGS, milder=FINDINGS),
    "gator": Profile(denied=1, failed=1, denied_with_milder=1, milder=1),
    "kyverno": Profile(denied=1, failed=1, denied_with_milder=1, milder=1),
    "conftest": Profile(denied=1, failed=1, denied_with_milder=2, milder=1),
}
"""By the name that `--exit-codes` takes; the first is the default. Usage errors end with 2 in all of them.

Sources: gatekeeper cmd/gator/test/test.go, kyverno cmd/cli/kubectl-kyverno/commands/apply/command.go, conftest
output/result.go (`ExitCodeFailOnWarn`: 1 for warnings alone, 2 for failures).
"""


class CommandFailed(click.ClickException):
    """An error of usher, with the exit code that the profile gives it."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


class Policy(NamedTuple):
    """The options of a command that decide its exit code."""

    fail_on: FailOn
    profile: Profile
    require_match: bool = False
    """Whether a run that judged no workload counts as failed."""
    allow_unknown: bool = True
    """Whether parts of workloads that usher cannot judge are accepted."""


VARIABLE: Final = "_USHER_COMPLETE"
"""Set by the script of `usher completion` when it asks for completions."""


class _Bash(shell_completion.BashComplete):
    """Bash, whose words end at `=`: it passes `--format=sa` as three words, and click expects one."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        *complete, incomplete = joined([*args, incomplete])
        return complete, incomplete


class _Zsh(shell_completion.ZshComplete):
    """zsh, which replaces the whole word `--fail-on=d`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[shell_completion.CompletionItem[str]]:
        return whole_words(super().get_completions(args, incomplete), incomplete)


class _Fish(shell_completion.FishComplete):
    """fish, which compares with the whole word `--fail-on=d`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[shell_completion.CompletionItem[str]]:
        return whole_words(super().get_completions(args, incomplete), incomplete)


SHELLS: Final[dict[str, type[shell_completion.ShellComplete]]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def add_shells() -> None:
    """Makes click complete for our shells."""
    for name, shell in SHELLS.items():
        shell_completion.add_completion_class(shell, name)


def whole_words(
    items: list[shell_completion.CompletionItem[str]], incomplete: str
) -> list[shell_completion.CompletionItem[str]]:
    """The values of an option, with the option before them if one word holds both."""
    option, equals, _ = incomplete.partition("=")
    if not equals or not option.startswith("-"):
        return items
    return [
        shell_completion.CompletionItem(f"{option}={each.value}", type=each.type, help=each.help)
        if each.type == "plain"
        else each
        for each in items
    ]


def joined(words: list[str]) -> list[str]:
    """The words of a command line; the words around a single `=` become one."""
    found: list[str] = []
    for place, word in enumerate(words):
        if found and (word == "=" or words[place - 1] == "="):
            found[-1] += word
        else:
            found.append(word)
    return found


@click.command(
    epilog="""\b
Examples:
  source <(usher completion bash)          in ~/.bashrc
  source <(usher completion zsh)           in ~/.zshrc
  usher completion fish > ~/.config/fish/completions/usher.fish"""
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the script that lets SHELL complete the commands and options of usher."""
    script = SHELLS[shell](context.find_root().command, {}, "usher", VARIABLE)
    click.echo(script.source())


_READS_NOTHING: Final = os.O_RDONLY
_REFUSES_WRITES: Final = os.O_RDONLY
_DROPS_WRITES: Final = os.O_WRONLY


def open_closed_streams() -> None:
    """Opens the standard streams that were closed when this process started.

    Then standard input is empty, and messages to standard error are dropped. A write to standard output fails with
    EBADF, because a report without a reader is not written. Without this, a file that a command opens would get the
    number of the stream, and other code would write into it.
    """
    if sys.stdin is None:
        sys.stdin = _open_null_device(0, _READS_NOTHING, "r")
    if sys.stdout is None:
        sys.stdout = _open_null_device(1, _REFUSES_WRITES, "w")
    if sys.stderr is None:
        sys.stderr = _open_null_device(2, _DROPS_WRITES, "w")


def flush_streams() -> None:
    """Writes the rest of the output. If that fails, the exit code of the command already shows the failure."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # Otherwise Python flushes again at exit, prints an error, and exits with another code.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_null_device(number: int, flags: int, mode: str) -> TextIO:
    found = os.open(os.devnull, flags)
    if found != number and not _is_open(number):
        os.dup2(found, number)
        os.close(found)
        found = number
    raw = io.FileIO(found, mode, closefd=False)
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


_FIRST: Final = 128
"""The start of the exit codes for processes that a signal ends, as in shells."""


def end_cleanly_on_signals() -> None:
    """Lets SIGTERM and SIGHUP raise SystemExit (143 and 129) in the main thread; an ignored signal stays ignored.

    The first process of a container would otherwise ignore SIGTERM, and be killed after the grace period.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Only the main thread may set handlers.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end_on_signal)


def _end_on_signal(number: int, _frame: FrameType | None) -> None:
    # A second signal ends a command that hangs while it removes its files.
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(_FIRST + number)


_INTERRUPTED: Final = 130
_UNWRITABLE: Final = frozenset({errno.ENOSPC, errno.EBADF})
"""A full disk, and a standard output that is closed."""
_BROKEN_PIPE: Final = 141


COMMANDS: Final = {
    "check": "Judge manifests before they are applied.",
    "fix": "Write mutations and safe remedies into manifests.",
    "audit": "Report on the workloads of a live cluster, in GPUs.",
    "report": "Merge the audits of many clusters to one report.",
    "snapshot": "Save the facts of a cluster in a file.",
    "init": "Write a first usher.yaml of what a cluster has.",
    "queue": "Show whether a job can start, and what limits it.",
    "replay": "Show what a change of usher.yaml or policies would deny.",
    "explain": "Explain a rule, or what each rule says of a file.",
    "policies": "List and explain the checks and mutations.",
    "workload": "Show what usher reads from a manifest.",
    "serve": "Run the webhook server.",
    "certs": "Make or show the server's certificate.",
    "config": "Check usher.yaml, or print its schema.",
    "lsp": "Serve an editor: findings while you type.",
    "manifests": "Print manifests for the cluster.",
    "preflight": "Say what enforcement would meet in a live cluster.",
    "portal": "Ask a running server; also as `kubectl usher`.",
    "uninstall": "Remove gpu-usher from a cluster.",
    "completion": "Print the completion of your shell.",
}
"""The help of each command. Its module has the name of the command, and is imported when the command runs, so that
`usher --help` is quick.
"""

_ELSEWHERE: Final = {"explain": "policies", "init": "config", "lsp": "check", "uninstall": "manifests"}
"""Commands in the module of another one."""


EXTRAS: Final = {
    "fastapi": "server",
    "httptools": "server",
    "kubernetes": "cluster",
    "lsprotocol": "lsp",
    "opa_client": "opa",
    "pygls": "lsp",
    "starlette": "server",
    "structlog": "server",
    "uvicorn": "server",
    "uvloop": "server",
}
"""The extra of pyproject.toml that brings a module. Code that can say more about a missing library does so itself."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name == completion.name:
            return completion
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"usher.cli.{_ELSEWHERE.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            # click looks for similar names among commands that are imported already.
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  usher check jobs/                        judge every manifest below jobs/
  helm template chart/ | usher check -     judge what a chart renders to
  usher check --diff job.yaml              show in full what the webhook would add
  usher fix job.yaml                       write it into the file, with the safe remedies
  usher audit                              report on the cluster of the current kubectl context
  usher explain USH103                     show what a code means and how to fix it

\b
Exit codes: 0 nothing is denied, 1 something is denied, 2 something could not be read or judged.""",
)
@click.version_option(__version__, message="usher %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an internal error.")
def usher() -> None:
    """Admission policies for GPU and AI workloads on Kubernetes.

    The same checks decide in the cluster (`usher serve`), in CI (`usher check`) and in audits (`usher audit`).
    """


def main(arguments: Sequence[str] | None = None, *, plugin: bool = False) -> NoReturn:
    """Runs the command line and ends the process with its exit code; `plugin`: as `kubectl usher`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # A command keeps most objects to its end and makes few cycles: frequent collections would cost a fifth of its time.
    # A small run makes fewer objects than this, and never collects.
    gc.set_threshold(1_000_000, 20, 100)
    atexit.register(_skip_last_collection)
    # usher has no pydantic plugins; pydantic would look for them in every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    open_closed_streams()
    end_cleanly_on_signals()
    for stream in (sys.stdout, sys.stderr):
        # A locale without a character must not make the command fail.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # tests replace the streams
    asked = os.environ.get(VARIABLE)
    try:
        code = _completed(asked) if asked else _exit_code(given, plugin=plugin)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else FAILED
    flush_streams()
    sys.exit(code)


def _skip_last_collection() -> None:
    """Skips Python's collection at exit, which took a fifth of a small run.

    The process ends anyway. With DuckDB the collection stays: DuckDB lists uncollected objects on standard error.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


def _completed(asked: str) -> int:
    add_shells()
    # Options of a command whose extra is not installed stay without completion.
    with contextlib.suppress(ModuleNotFoundError):
        return shell_completion.shell_complete(usher, {}, "usher", VARIABLE, asked)
    return 0


def _exit_code(arguments: list[str], *, plugin: bool) -> int:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = "--debug" in options
    # Accepted at any place: people add it at the end of the command line that failed.
    rest = [argument for argument in options if argument != "--debug"] + arguments[len(options) :]
    try:
        # `usher.main` of click would end with 1 on a broken pipe, but 1 is the code for findings.
        found = usher.get_command(click.Context(usher), rest[0]) if plugin else None
        command, name, given = (usher, "usher", rest) if found is None else (found, "kubectl usher", rest[1:])
        with command.make_context(name, given, None, **usher.context_settings) as context:
            command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except click.UsageError as error:
        return _misused(error)
    except click.ClickException as error:
        code = error.code if isinstance(error, CommandFailed) else FAILED
        return _complain(error.format_message(), code=code)
    except errors.UsherError as error:
        return _complain(str(error))
    except ModuleNotFoundError as error:
        return _not_installed(error, command=rest[0], debug=debug)
    except OSError as error:
        return _unwritten(error, debug=debug)
    except Exception as error:  # noqa: BLE001 - the last resort: people see a message instead of a traceback
        return _internal(error, debug=debug)
    return 0


def _not_installed(error: ModuleNotFoundError, *, command: str, debug: bool) -> int:
    library = (error.name or "").partition(".")[0]
    if library not in EXTRAS:
        return _internal(error, debug=debug)
    extra = "server" if command == "serve" else EXTRAS[library]
    return _complain(f"usher {command} needs the library {library} for this: pip install 'gpu-usher[{extra}]'")


def _unwritten(error: OSError, *, debug: bool) -> int:
    if isinstance(error, BrokenPipeError):
        return _BROKEN_PIPE
    if error.errno not in _UNWRITABLE:
        return _internal(error, debug=debug)
    return _complain(f"the output cannot be written: {error.strerror}")


def _misused(error: click.UsageError) -> int:
    from usher.check.formats import wording

    shown = io.StringIO()
    error.show(file=shown)
    # The error quotes the command line, which may hold names of files and branches from others in CI.
    lines = [wording.harmless(wording.printable(line)) for line in shown.getvalue().splitlines()]
    with contextlib.suppress(OSError):
        click.echo("\n".join(lines), err=True)
    return FAILED


def _internal(error: Exception, *, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    hint = "" if debug else " with the output of --debug"
    return _complain(f"internal error: {type(error).__name__}: {error}. This is a bug in usher; please report it{hint}")


def _complain(message: str, *, code: int = FAILED) -> int:
    from usher.check.formats import wording

    lines = [wording.harmless(wording.printable(line)) for line in message.splitlines()] or ["unknown error"]
    # If even this cannot be written, the exit code still shows the failure.
    with contextlib.suppress(OSError):
        click.echo("\n".join(f"usher: {line}" for line in lines), err=True)
    return code


def kubectl_main() -> NoReturn:
    """Runs `usher portal` with the arguments of the plugin, under the name of the plugin."""
    main(["portal", *sys.argv[1:]], plugin=True)
