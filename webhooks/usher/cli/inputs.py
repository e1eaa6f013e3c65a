"""Options that several commands have, and how these commands load configuration, facts and engine."""

import contextlib
import functools
import hashlib
import io
import os
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Final, Protocol, get_args, runtime_checkable

import click
import orjson
from click.shell_completion import CompletionItem
from msgspec import NODEFAULT, Struct

from usher import errors
from usher.check import findings
from usher.cluster.facts.store import Recorded, State, Store
from usher.config import models
from usher.kinds import registry
from usher.kinds.kind import DEFINITION, FactKind, Key
from usher.kinds.registry import ASKED_FACTS
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import Catalogue, OwnChecks
from usher.policy.engines.engine import DEFAULT_DEADLINE
from usher.policy.evaluator import Evaluator
from usher.policy.rule_choice import NO_CHOICE, RuleChoice


def name_unread_kinds(recorded: Iterable[Recorded]) -> bool:
    """Writes the kinds that could not be read, with reasons. Returns false if all could be read."""
    from usher.check.formats import wording

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

_COMMANDS: Final[Mapping[str, Any]] = orjson.loads(Path(__file__).with_name("commands.json").read_bytes())
"""The help page of each command, and rows that several have; see commands.yaml."""

_TYPES: Final = {
    "path": click.Path(path_type=Path),
    "file": click.Path(dir_okay=False, path_type=Path),
    "folder": click.Path(file_okay=False, path_type=Path),
    "existing file": click.Path(exists=True, dir_okay=False, path_type=Path),
    "existing folder": click.Path(exists=True, file_okay=False, path_type=Path),
}
_COMPLETED: Final = {
    "files": complete_files,
    "directories": complete_directories,
    "facts": complete_facts,
    "revisions": complete_revisions,
}


@runtime_checkable
class FailsInItsOwnWay(Protocol):
    """A value of options that decides how errors of usher end its command."""

    def failure(self, error: errors.UsherError) -> click.ClickException: ...


def command(name: str, *, group: click.Group | None = None, **words: str) -> Callable[[Command], click.Command]:
    """Makes a function the command of this name, as commands.yaml describes it.

    A parameter of the function whose type is a Struct gets the options that its fields are named after. The Struct may
    have `of_options`, which makes it of the values of all options, and takes out its own; it may be None then.

    Args:
        group: the command to add it to.
        words: texts that stand in braces in the help of options.
    """
    described = _COMMANDS[name]
    rows = list(_rows(described.get("options", ())))
    old = [each for each in rows if "instead" in each]

    def decorate(function: Command) -> click.Command:
        parameters = signature(function).parameters.values()
        kinds = [(each.name, kind) for each in parameters if (kind := _struct_in(each.annotation)) is not None]

        @functools.wraps(function)
        def run(*arguments: object, **values: Any) -> object:  # noqa: ANN401 - click passes values of all options
            for row in old:
                _take_old(row, values)
            made: dict[str, object] = {}
            try:
                for parameter, kind in kinds:
                    made[parameter] = _of_options(kind, values)
                return function(*arguments, **made, **values)
            except errors.UsherError as error:
                if found := [each for each in made.values() if isinstance(each, FailsInItsOwnWay)]:
                    raise found[0].failure(error) from error
                raise

        for row in reversed(rows):
            _parameter(row, words)(run)
        epilog = "\n\n".join(f"\b\n{part}" for part in described.get("epilog", "").split("\n\n") if part)
        text = described["help"].replace("\\b", "\b")
        made = click.command(name.rpartition(" ")[2], help=text, epilog=epilog or None)(run)
        if group is not None:
            group.add_command(made)
        return made

    return decorate


def _rows(described: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for row in described:
        if isinstance(row, str):
            yield from _rows(_COMMANDS["shared"][row])
        else:
            yield row


def _struct_in(annotation: Any) -> type[Struct] | None:  # noqa: ANN401 - the annotation of a parameter or a field
    found = (annotation, *get_args(annotation))
    return next((each for each in found if isinstance(each, type) and issubclass(each, Struct)), None)


def _of_options(kind: type[Struct], values: dict[str, Any]) -> object:
    """The value of a class; takes the options of its fields without a default out of `values`."""
    if (own := getattr(kind, "of_options", None)) is not None:
        return own(values)
    fields = kind.__struct_fields__
    # Defaults stand at the end of the fields; one that only a name can give has a mark instead.
    defaults = [NODEFAULT] * (len(fields) - len(kind.__struct_defaults__)) + [*kind.__struct_defaults__]
    found = {}
    for name, default in zip(fields, defaults, strict=True):
        if default is NODEFAULT:
            part = _struct_in(kind.__annotations__[name])
            found[name] = values.pop(name) if part is None else _of_options(part, values)
    return kind(**found)


def _parameter(row: Mapping[str, Any], words: Mapping[str, str]) -> Callable[[Command], Command]:
    """The decorator that adds an option or an argument to a function."""
    attributes = {key: value for key, value in row.items() if key not in _OURS}
    if "type" in row:
        attributes["type"] = _type_of(row["type"])
    if "completes" in row:
        attributes["shell_complete"] = _COMPLETED[row["completes"]]
    if "argument" in row:
        return click.argument(row["argument"], **attributes)
    if "default_of" in row:
        attributes["default"] = pkgutil.resolve_name(row["default_of"])
    if "instead" in row:
        return click.option(*row["option"].split(), _old_parameter(row), hidden=True, **attributes)
    for word, text in words.items():
        attributes["help"] = attributes["help"].replace(f"{{{word}}}", text)
    return click.option(*row["option"].split(), *([row["as"]] if "as" in row else []), **attributes)


_OURS: Final = frozenset({"argument", "option", "as", "completes", "default_of", "instead"})
"""The keys of a row that click does not have."""


def _type_of(described: Any) -> click.ParamType[Any]:  # noqa: ANN401 - a value of JSON
    if isinstance(described, dict):
        return click.IntRange(described.get("least"), described.get("most"))
    if isinstance(described, str):
        if described in _TYPES:
            return _TYPES[described]
        found = pkgutil.resolve_name(described)
        if isinstance(found, click.ParamType):
            return found
        described = found
    return click.Choice([str(each) for each in described])


def _old_parameter(row: Mapping[str, Any]) -> str:
    return f"old_{row['option'].split()[-1].lstrip('-').replace('-', '_')}"


def _take_old(row: Mapping[str, Any], values: dict[str, Any]) -> None:
    """Moves the value of an old spelling to the new one, and says on standard error what to write instead."""
    given = values.pop(_old_parameter(row))
    if given:
        _warn_of_old(row["option"].split()[-1], row["instead"])
        option, _, word = row["instead"].partition(" ")
        parameter = row.get("as") or option.lstrip("-").replace("-", "_")
        values[parameter] = (*values[parameter], word) if word else given


CONFIG_VARIABLE: Final = "USHER_CONFIG"
DEFAULT_CONFIG: Final = Path("usher.yaml")
DEFAULT_OPA_URL: Final = "http://127.0.0.1:8181"

_REMEMBERED: Final = 4096
"""Answers that the engine remembers: a run over many files meets more kinds of pods than a server in a minute."""


LIVE: Final = "live"
"""The value of --facts for a cluster instead of files."""

NONE: Final = "none"
"""The value of --facts with which queues and quotas in the judged files do not count either."""

NO_FILES: Final = (LIVE, NONE)


def _warn_of_old(spelling: str, instead: str) -> None:
    click.echo(f"usher: warning: {spelling} is an old spelling, which a later version drops; write {instead}", err=True)


class OldValues(click.Choice[str]):
    """A choice of values that also takes old spellings of them, and says on standard error what to write instead."""

    def __init__(self, choices: Sequence[str], *, old: Mapping[str, str]) -> None:
        super().__init__(choices)
        self._old = old

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        new = self._old.get(str(value))
        if new is not None:
            name = param.opts[0] if param is not None else ""
            _warn_of_old(f"{name} {value}", f"{name} {new}")
        return super().convert(new or value, param, ctx)


class GivenFacts(Struct, frozen=True, kw_only=True):
    """The facts that the options of a command name."""

    store: Store
    source: str
    """The name of the cluster, or the files."""
    live: bool


def are_live(facts: Sequence[str], *, kubeconfig: Path | None, context_name: str | None) -> bool:
    """Whether the options ask a cluster for its facts: --kubeconfig and --context imply --facts live.

    Raises:
        UsageError: they name files as well.
    """
    named = kubeconfig is not None or context_name is not None
    if LIVE in facts and set(facts) != {LIVE}:
        raise click.UsageError("--facts live reads all facts from the cluster; leave out the files, or `live`")
    if named and LIVE not in facts and facts:
        raise click.UsageError("with files in --facts, usher reads no cluster; leave out --kubeconfig and --context")
    return named or LIVE in facts


def given_facts(
    facts: Sequence[str],
    *,
    kubeconfig: Path | None,
    context_name: str | None,
    kinds: Callable[[], Collection[Key]] = frozenset,
    also: Sequence[FactKind] = (),
) -> GivenFacts | None:
    """The facts of files or of a cluster; None if the options name neither. --kubeconfig and --context imply
    --facts live.

    Writes the kinds of a cluster that cannot be read to standard error.

    Args:
        kinds: groups and kinds to compare with the definitions of a cluster, which usher asks for no others.
        also: kinds to read of a cluster besides those of all facts.

    Raises:
        InputError: the files cannot be read.
        ClusterError: the API server does not answer.
    """
    if NONE in facts and set(facts) != {NONE}:
        raise errors.InputError("`--facts none` reads no facts; leave out the files, or `none`")
    if are_live(facts, kubeconfig=kubeconfig, context_name=context_name):
        return _of_cluster(kubeconfig, context_name, kinds, also)
    if not facts or NONE in facts:
        return None
    from usher.check.sources import from_files

    return GivenFacts(store=from_files(facts), source=", ".join(facts), live=False)


def kinds_named_in(paths: Sequence[str]) -> Collection[Key]:
    """Groups and kinds that files may hold objects of; standard input is left out."""
    from usher.check import sources

    named = [each for each in paths if each != sources.STDIN]
    return sources.named_kinds(sources.find_files(named, stdin=io.BytesIO()))


def _of_cluster(
    kubeconfig: Path | None, context_name: str | None, kinds: Callable[[], Collection[Key]], also: Sequence[FactKind]
) -> GivenFacts:
    from usher.cluster import connection, recording

    api = connection.connect(kubeconfig=kubeconfig, context=context_name)
    recorded = list(recording.read_facts(api, kinds=(*ASKED_FACTS, *also)))
    name_unread_kinds(recorded)
    store = recording.store_of_recorded(recorded)
    if names := _names_of_definitions(store, kinds()):
        found, refused = recording.read_definitions(api, names[:_MOST_DEFINITIONS])
        left = len(names) - _MOST_DEFINITIONS
        more = {f"{left:,} more": f"usher reads {_MOST_DEFINITIONS} definitions of a cluster"} if left > 0 else {}
        _name_unread_definitions({**refused, **more})
        for each in found:
            store.put(each)
    return GivenFacts(store=store, source=api.name, live=True)


_MOST_DEFINITIONS: Final = 50
"""Definitions that usher reads of a cluster for a run; one has at most 1.5 MiB."""


def _names_of_definitions(store: Store, kinds: Collection[Key]) -> list[str]:
    """The names (`<plural>.<group>`) of the definitions that the cluster has of some kinds."""
    starts = defaultdict[str, set[str]](set)
    for group, kind in kinds:
        starts[group].add(kind.lower()[:-1])  # a plural may end in -ies
    parted = ((name, *name.partition(".")) for name in store.names(*DEFINITION) or ())
    return sorted(name for name, plural, _, group in parted if plural.startswith(tuple(starts.get(group, ()))))


def _name_unread_definitions(reasons: Mapping[str, str]) -> None:
    from usher.check.formats import wording

    for names, reason in wording.by_reason(reasons.items()):
        text = f"not compared with the definitions of the cluster: {names}: {reason}"
        click.echo(f"usher: {wording.harmless(wording.printable(text))}", err=True)


def named_rules(words: Sequence[str], entries: Catalogue, *, option: str) -> frozenset[str]:
    """The keys of the checks and mutations that an option names.

    Raises:
        UsageError: a word names no check, mutation or category.
    """
    found = {word: entries.named(word) for word in words}
    for word, keys in found.items():
        if not keys:
            raise click.UsageError(
                f"{option}: no check, mutation or category is called {word}; usher policies list names them"
            )
    return frozenset(key for keys in found.values() for key in keys)


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


def load_config(file: Path | None, *, own: Sequence[OwnChecks] = (), choice: RuleChoice = NO_CHOICE) -> models.Config:
    """The configuration in a file, or the defaults; it may name the own checks of the site.

    Args:
        file: usher.yaml; None for the defaults.
        own: checks of the site.
        choice: the checks and the preset of one run.

    Raises:
        ConfigError: the file cannot be used; usher never falls back to other rules.
    """
    if file is None and choice == NO_CHOICE:
        return models.Config.defaults()
    from usher.config import load
    from usher.policy import config_problems

    entries = catalogue.join_catalogues(catalogue.load().catalogue, own)
    if file is None:
        return choice.applied(models.Config(), entries)
    found = load.load(file, check=lambda read: config_problems.problems(config_problems.with_kinds(read, own), entries))
    found = config_problems.with_kinds(found, own)
    if any(registry.problems(found.workloads)):
        raise load.config_error(file, config_problems.problems(found, entries))
    registry.use(found.workloads)
    return choice.applied(found, entries)


def assembled(
    config: Path | None,
    *,
    engine: str,
    opa_url: str | None,
    facts: Sequence[str] = (),
    known: Store | None = None,
    own: Sequence[OwnChecks] = (),
    own_deadline: float | None = None,
    choice: RuleChoice = NO_CHOICE,
) -> Evaluator:
    """An evaluator with the configuration of a file, or with the defaults. The caller closes its engine.

    Args:
        opa_url: URL of the OPA server; None for the default.
        facts: files with the facts of a cluster.
        known: the facts themselves, instead of files.
        own: checks of the site.
        own_deadline: seconds that own checks get for one object; None for the default.
        choice: the checks and the preset of one run.

    Raises:
        ConfigError: the configuration cannot be used.
        BundleError: the installation is damaged.
        InputError: the facts cannot be read.
    """
    from usher.check.sources import from_files
    from usher.policy import assembly

    deadline = DEFAULT_DEADLINE if own_deadline is None else own_deadline
    loaded, store = load_config(config, own=own, choice=choice), from_files(facts) if known is None else known
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
    choice: RuleChoice = NO_CHOICE,
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
    made = assembled(config, engine=engine, opa_url=opa_url, facts=facts, known=known, own=own, choice=choice)
    for warning in () if quiet else assembly.warnings(made, file=config):
        click.echo(f"usher: warning: {warning}", err=True)
    with contextlib.closing(made.engine) as its_engine:
        its_engine.ready()  # one error now instead of one for each object
        yield made
