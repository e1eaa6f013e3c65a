"""What commands that judge have in common: configuration, engine, and their options."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from usher import errors
from usher.reports.formats import FORMATS

if TYPE_CHECKING:
    from usher.config import models
    from usher.facts.store import Store
    from usher.policy.evaluator import Evaluator
    from usher.scan import findings

CONFIG_VARIABLE: Final = "USHER_CONFIG"
DEFAULT_CONFIG: Final = Path("usher.yaml")
DEFAULT_OPA_URL: Final = "http://127.0.0.1:8181"

Command = Callable[..., Any]


def config_option(command: Command) -> Command:
    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=f"usher.yaml to judge by. Default: ${CONFIG_VARIABLE}, else ./usher.yaml, else the built-in defaults.",
    )(command)


def facts_option(command: Command) -> Command:
    return click.option(
        "--facts",
        multiple=True,
        metavar="PATH",
        help="What is in the cluster: a snapshot (`usher snapshot`), or manifests of queues, classes, ConfigMaps, "
        "runtimes, of each kind all that there are. May be given more than once.",
    )(command)


def engine_options(command: Command) -> Command:
    command = click.option(
        "--opa-url", metavar="URL", help=f"Where OPA is, with --engine opa. Default: {DEFAULT_OPA_URL}"
    )(command)
    return click.option(
        "--engine",
        type=click.Choice(["wasm", "opa"]),
        default="wasm",
        show_default=True,
        help="What evaluates the policies: this process, or an OPA server that has loaded the same bundle.",
    )(command)


def output_options(command: Command) -> Command:
    command = click.option(
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write the report to a file, which is replaced only when the report is complete.",
    )(command)
    command = click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="auto: on a terminal, unless NO_COLOR is set.",
    )(command)
    default, *_ = FORMATS
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(list(FORMATS)),
        default=default,
        show_default=True,
        help=f"{', '.join(f'{name} for {each.reader}' for name, each in FORMATS.items())}.",
    )(command)


def namespace_option(command: Command) -> Command:
    return click.option(
        "-n",
        "--namespace",
        default="default",
        show_default=True,
        help="Namespace of objects that name none, as in kubectl.",
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

    Never one that lies beside the manifests: a pull request could bring its own and switch the checks off.
    """
    if given is not None:
        return given
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None


def load_config(file: Path | None) -> "models.Config":
    """The configuration in a file, or the defaults.

    Raises:
        ConfigError: the file cannot be used; there is no falling back to other rules than those asked for.
    """
    from usher.config import models

    if file is None:
        return models.Config()
    from usher.config import load

    return load.load(file)


def assembled(
    config: Path | None, *, engine: str, opa_url: str, facts: Sequence[str] = (), known: "Store | None" = None
) -> "Evaluator":
    """An evaluator with the configuration of a file, or the defaults; whoever gets it closes its engine.

    Args:
        config: usher.yaml.
        engine: `wasm` or `opa`.
        opa_url: where OPA is.
        facts: files that tell what is in the cluster.
        known: what is known of the cluster already, instead of files.

    Raises:
        ConfigError: the configuration cannot be used.
        BundleError: the installation is damaged.
        InputError: the facts cannot be read.
    """
    from usher.policy import assembly
    from usher.scan.fact_files import from_files

    loaded, store = load_config(config), from_files(facts) if known is None else known
    if engine == "opa":
        return assembly.remote(loaded, url=opa_url, file=config, facts=store)
    return assembly.embedded(loaded, file=config, facts=store)


@contextlib.contextmanager
def evaluator(
    config: Path | None,
    *,
    engine: str,
    opa_url: str | None,
    facts: Sequence[str] = (),
    known: "Store | None" = None,
) -> "Iterator[Evaluator]":
    """What judges, until it is closed; `facts` are files that tell what is in the cluster, or it is `known` already.

    Raises:
        ConfigError: the configuration cannot be used.
        BundleError: the installation is damaged.
        EngineError: the OPA server cannot be reached or does not have our policies.
        InputError: the facts cannot be read.
    """
    from usher.policy import assembly

    if engine == "wasm" and opa_url:
        raise click.UsageError("--opa-url goes with --engine opa")
    made = assembled(config, engine=engine, opa_url=opa_url or DEFAULT_OPA_URL, facts=facts, known=known)
    for warning in assembly.warnings(made, file=config):
        click.echo(f"usher: warning: {warning}", err=True)
    with contextlib.closing(made.engine) as its_engine:
        its_engine.ready()  # an engine that is not there is better told once than for every object
        yield made


def require_objects(found: "findings.Report", paths: Sequence[str]) -> None:
    """Raises InputError if there was nothing to judge: a typing error in a path must not look like a clean run."""
    if not found.totals.objects and not found.problems:
        raise no_manifests(paths, notes=found.notes)


def no_manifests(paths: Sequence[str], *, notes: "Sequence[findings.Note]") -> errors.InputError:
    """What to raise when no Kubernetes object was found, with what was found instead."""
    places = ", ".join("standard input" if path == "-" else path for path in paths)
    reasons = [f"{note.source}: {note.reason}" for note in notes[:3]]
    why = "\n".join(reasons) or "in a directory, files that end in .yaml, .yml or .json are read"
    return errors.InputError(f"no manifests found in {places}: {why}")
