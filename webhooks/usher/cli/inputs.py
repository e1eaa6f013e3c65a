"""Options that several commands have, and how these commands load configuration, facts and engine."""

import contextlib
import functools
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem
from msgspec import NODEFAULT, Struct

from usher import errors
from usher.check import findings
from usher.cluster.facts.store import Recorded, Store
from usher.config import models
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.evaluator import Evaluator


def name_unread_kinds(recorded: Iterable[Recorded]) -> bool:
    """Writes the kinds that could not be read, with reasons. Returns false if all could be read."""
    from usher.check.formats import wording
    from usher.cluster.facts.store import State

    unread = [each for each in recorded if each.state is State.NOT_KNOWN]
    for kinds, reason in wording.by_reason((each.kind.resource, each.reason) for each in unread):
        click.echo(f"usher: {wording.harmless(wording.printable(f'{kinds}: not read: {reason}'))}", err=True)
    return bool(unread)


def require_objects(found: findings.Report, paths: Sequence[str]) -> None:
    """Raises InputError if no object was found."""
    if not found.totals.objects and not found.problems:
        raise no_objects_error(paths, notes=found.notes, documents=found.totals.ignored)


def no_objects_error(paths: Sequence[str], *, notes: Sequence[findings.Note], documents: int = 0) -> errors.InputError:
    """The error for inputs without any Kubernetes object; it names the other content.

    Args:
        paths: the inputs.
        notes: notes on documents that were left out.
        documents: the number of documents without an object.
    """
    from usher.check.formats import wording

    places = ", ".join("standard input" if path == "-" else path for path in paths)
    reasons = [f"{note.source}: {note.reason}" for note in notes[:3]]
    if documents and not reasons:
        read = wording.count(documents, "document was", "documents were")
        return errors.InputError(
            f"no Kubernetes object found in {places}: {read} read, and an object needs the keys apiVersion and kind"
        )
    why = "\n".join(reasons) or "of a directory, usher reads the files that end in .yaml, .yml or .json"
    return errors.InputError(f"no manifests found in {places}: {why}")


_SECONDS: Final = 2.0
"""Seconds for an answer of git, because a person waits."""


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Tells the shell to complete files itself."""
    return [CompletionItem(incomplete, type="file")]


def complete_directories(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Tells the shell to complete directories itself."""
    return [CompletionItem(incomplete, type="dir")]


def complete_facts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`live` if it matches the input and no file does; else files."""
    if incomplete and "live".startswith(incomplete) and not any(Path().glob(f"{incomplete}*")):
        return [CompletionItem("live", help="the cluster of the current context")]
    return complete_files(ctx, param, incomplete)


def complete_revisions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """The branches and tags of the repository; empty outside of one."""
    from usher.check import programs

    names: list[str] = []
    with contextlib.suppress(errors.InputError):
        repository = programs.Repository.around(Path())
        names = [] if repository is None else list(repository.revisions(seconds=_SECONDS))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


Command = Callable[..., Any]
Option = Callable[[Command], Command]
"""A decorator, as `click.option` and `click.argument` return it."""


def options_as_value(parameter: str, kind: type[Struct], *options: Option) -> Option:
    """Adds options to a command, which gets them as one value.

    Args:
        parameter: the parameter of the command that gets the value.
        kind: the class of the value. Each field without a default has the name of an option of the command, which may
            stand anywhere in its list, or of a group above this one.
        options: those to add, in the order of the help page.
    """
    # Defaults stand at the end of the fields; one that only a name can give has a mark instead.
    without = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
    defaults = [NODEFAULT] * without + [*kind.__struct_defaults__]
    names = [name for name, default in zip(kind.__struct_fields__, defaults, strict=True) if default is NODEFAULT]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(*arguments: object, **values: Any) -> object:  # noqa: ANN401 - click passes values of all options
            value = kind(**{name: values.pop(name) for name in names})
            return command(*arguments, **{parameter: value}, **values)

        return with_options(run, *options)

    return decorate


def with_options(command: Command, *options: Option) -> Command:
    """The command with options, in the order of the help page."""
    for option in reversed(options):
        command = option(command)
    return command


CONFIG_VARIABLE: Final = "USHER_CONFIG"
DEFAULT_CONFIG: Final = Path("usher.yaml")
DEFAULT_OPA_URL: Final = "http://127.0.0.1:8181"

_REMEMBERED: Final = 4096
"""Answers that the engine remembers: a run over many files meets more kinds of pods than a server in a minute."""


def config_option(command: Command) -> Command:
    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=f"Path of usher.yaml. Default: ${CONFIG_VARIABLE}, else ./usher.yaml, else the built-in defaults.",
    )(command)


def facts_option(command: Command) -> Command:
    return click.option(
        "--facts",
        multiple=True,
        metavar="PATH",
        shell_complete=complete_facts,
        help="Facts of a cluster: a file of `usher snapshot`, or manifests of queues, quotas, classes and so on, "
        "complete for each kind. Repeatable. `usher check` takes `live` too: the cluster of the current context.",
    )(command)


def live_option(command: Command) -> Command:
    return click.option("--live", is_flag=True, help="Read the facts from the cluster, as it is now.")(command)


class GivenFacts(Struct, frozen=True, kw_only=True):
    """The facts that the options of a command name."""

    store: Store
    source: str
    """The name of the cluster, or the files."""
    live: bool


def given_facts(
    facts: Sequence[str], *, live: bool, kubeconfig: Path | None, context_name: str | None
) -> GivenFacts | None:
    """The facts of files or of a cluster; None if the options name neither. --kubeconfig and --context imply --live.

    Writes the kinds of a cluster that cannot be read to standard error.

    Raises:
        InputError: the files cannot be read.
        ClusterError: the API server does not answer.
    """
    live = live or kubeconfig is not None or context_name is not None
    if live and facts:
        raise click.UsageError("with --facts, usher reads no cluster; leave out --live, --kubeconfig and --context")
    if live:
        return _of_cluster(kubeconfig, context_name)
    if not facts:
        return None
    from usher.check.sources import from_files

    return GivenFacts(store=from_files(facts), source=", ".join(facts), live=False)


def _of_cluster(kubeconfig: Path | None, context_name: str | None) -> GivenFacts:
    from usher.cluster import connection, recording

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    recorded = list(recording.read_facts(api))
    name_unread_kinds(recorded)
    return GivenFacts(store=recording.store_of_recorded(recorded), source=api.name, live=True)


def engine_options(command: Command) -> Command:
    return with_options(
        command,
        click.option(
            "--engine",
            type=click.Choice(["wasm", "opa"]),
            default="wasm",
            show_default=True,
            help="wasm evaluates the policies in this process, opa in an OPA server that has loaded the same bundle.",
        ),
        click.option(
            "--opa-url", metavar="URL", help=f"URL of the OPA server, with --engine opa. Default: {DEFAULT_OPA_URL}"
        ),
    )


def cluster_options(command: Command) -> Command:
    return with_options(
        command,
        click.option(
            "--kubeconfig",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Default: the one that kubectl would use.",
        ),
        click.option(
            "--context", "context_name", metavar="NAME", help="Context of the kubeconfig. Default: the current one."
        ),
    )


def namespace_option(command: Command) -> Command:
    return click.option(
        "-n",
        "--namespace",
        default="default",
        show_default=True,
        help="Namespace of objects without one, as in kubectl.",
    )(command)


def format_option(command: Command) -> Command:
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="text for people, json for programs.",
    )(command)


def find_config(given: Path | None) -> Path | None:
    """The configuration to use; None for the defaults.

    usher never looks for it beside the manifests: a pull request could bring its own file and switch checks off.
    """
    if given is not None:
        return given
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None


def load_config(file: Path | None, *, own: Sequence[OwnChecks] = ()) -> models.Config:
    """The configuration in a file, or the defaults; it may name the own checks of the site.

    Raises:
        ConfigError: the file cannot be used; usher never falls back to other rules.
    """
    if file is None:
        return models.Config()
    from usher.config import load
    from usher.policy import config_problems
    from usher.policy.checks import catalogue

    return load.load(
        file,
        more=lambda config: config_problems.problems(
            config, catalogue.join_catalogues(catalogue.load().catalogue, own)
        ),
    )


def assembled(
    config: Path | None,
    *,
    engine: str,
    opa_url: str | None,
    facts: Sequence[str] = (),
    known: Store | None = None,
    own: Sequence[OwnChecks] = (),
    own_deadline: float | None = None,
) -> Evaluator:
    """An evaluator with the configuration of a file, or with the defaults. The caller closes its engine.

    Args:
        config: usher.yaml.
        engine: `wasm` or `opa`.
        opa_url: URL of the OPA server; None for the default.
        facts: files with the facts of a cluster.
        known: the facts themselves, instead of files.
        own: checks of the site.
        own_deadline: seconds that own checks get for one object; None for the default.

    Raises:
        ConfigError: the configuration cannot be used.
        BundleError: the installation is damaged.
        InputError: the facts cannot be read.
    """
    from usher.check.sources import from_files
    from usher.policy import assembly
    from usher.policy.engines.engine import DEFAULT_DEADLINE

    deadline = DEFAULT_DEADLINE if own_deadline is None else own_deadline
    loaded, store = load_config(config, own=own), from_files(facts) if known is None else known
    if engine == "opa":
        return assembly.remote(
            loaded, url=opa_url or DEFAULT_OPA_URL, file=config, facts=store, own=own, own_deadline=deadline
        )
    return assembly.embedded(loaded, file=config, facts=store, remembered=_REMEMBERED, own=own, own_deadline=deadline)


def facts_digest(facts: Sequence[str]) -> bytes:
    """A digest of the content of files with facts."""
    from usher.check import sources

    found = hashlib.sha256()
    for file in sources.find_files(facts, stdin=io.BytesIO()):
        content = sources.read_content(file) if isinstance(file, sources.File) else b""
        found.update(hashlib.sha256(content if isinstance(content, bytes) else b"").digest())
    return found.digest()


@contextlib.contextmanager
def evaluator(
    config: Path | None,
    *,
    engine: str,
    opa_url: str | None,
    facts: Sequence[str] = (),
    known: Store | None = None,
    quiet: bool = False,
    own: Sequence[OwnChecks] = (),
) -> Iterator[Evaluator]:
    """An evaluator for as long as the context lasts; `facts` are files, `known` are the facts themselves, and `own`
    are checks of the site.

    Warnings about its configuration go to standard error, unless `quiet`.

    Raises:
        ConfigError: the configuration cannot be used.
        BundleError: the installation is damaged.
        EngineError: the OPA server cannot be reached or does not have our policies.
        InputError: the facts cannot be read.
    """
    from usher.policy import assembly

    if engine == "wasm" and opa_url:
        raise click.UsageError("--opa-url needs --engine opa")
    made = assembled(config, engine=engine, opa_url=opa_url, facts=facts, known=known, own=own)
    for warning in () if quiet else assembly.warnings(made, file=config):
        click.echo(f"usher: warning: {warning}", err=True)
    with contextlib.closing(made.engine) as its_engine:
        its_engine.ready()  # one error now instead of one for each object
        yield made
