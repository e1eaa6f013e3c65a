"""Puts an evaluator together: bundle, engine, configuration."""

from collections.abc import Sequence
from pathlib import Path

from usher import errors
from usher.cluster.facts.store import Store
from usher.config import load, models
from usher.policy import config_problems
from usher.policy.checks import catalogue
from usher.policy.checks.catalogue import OwnChecks
from usher.policy.engines import wasm, wasm_runtime
from usher.policy.engines.engine import (
    DEFAULT_DEADLINE,
    ENTRIES,
    CachedEngine,
    Engine,
    Entrypoint,
    OwnChecksEngine,
    TogetherEngine,
)
from usher.policy.evaluator import Evaluator


def embedded(  # noqa: PLR0913 - the policies, the facts, and the file that errors name
    config: models.Config,
    *,
    file: Path | None = None,
    directory: Path | None = None,
    facts: Store | None = None,
    remembered: int = ENTRIES,
    own: Sequence[OwnChecks] = (),
    own_deadline: float = DEFAULT_DEADLINE,
) -> Evaluator:
    """An evaluator with the embedded engine and the packaged policies.

    Args:
        file: the file of usher.yaml, so that errors can name its lines.
        directory: a folder with policies to use instead of the packaged ones.
        remembered: how many answers the engine remembers, for inputs of up to 8 KiB.
        own: checks of the site, which run beside usher's.
        own_deadline: seconds that own checks get for one object.

    Raises:
        BundleError: the policies are missing, or their files are of different builds.
        ConfigError: usher.yaml names a check or a parameter that does not exist, which would have no effect.
        InputError: own checks cannot be started, or share a word with other checks.
    """
    policies = catalogue.load(directory)
    entries = catalogue.join_catalogues(policies.catalogue, own)
    config = config_problems.with_kinds(config, own)
    _refuse(config, entries, file)
    # Only machine code beside the packaged policies is trusted.
    ahead = None if directory else wasm_runtime.machine_code_file(policies.directory, policies.module)
    engine = _together(wasm.WasmEngine(policies.module, ahead=ahead), own, own_deadline)
    return Evaluator(engine=CachedEngine(engine, entries=remembered), entries=entries, config=config, facts=facts)


def remote(  # noqa: PLR0913 - the server, and the file that errors name
    config: models.Config,
    *,
    url: str,
    file: Path | None = None,
    ca_file: Path | None = None,
    token_file: Path | None = None,
    directory: Path | None = None,
    facts: Store | None = None,
    own: Sequence[OwnChecks] = (),
    own_deadline: float = DEFAULT_DEADLINE,
) -> Evaluator:
    """An evaluator that asks the OPA server at `url`, which must have our policies in the revision packaged here.

    The embedded engine evaluates own checks of the site.

    Nothing is sent yet. `OpaEngine.ready` asks whether the server is there and has them.

    Raises:
        BundleError: the policies are missing, or their files are of different builds.
        ConfigError: usher.yaml names a check or a parameter that does not exist, which would have no effect.
        InputError: the URL is not one of a server; or as `embedded`, for own checks.
        CertificateError: `ca_file` has no certificates to trust the server by.
        EngineError: `token_file` has no bearer token.
    """
    from usher.policy.engines.opa import OpaEngine, Server

    policies = catalogue.load(directory)
    entries = catalogue.join_catalogues(policies.catalogue, own)
    config = config_problems.with_kinds(config, own)
    _refuse(config, entries, file)
    server = Server(url=url, ca_file=ca_file, token_file=token_file)
    opa = OpaEngine(server, revision=policies.source_revision)
    return Evaluator(engine=_together(opa, own, own_deadline), entries=entries, config=config, facts=facts)


def _together(ours: Engine, own: Sequence[OwnChecks], deadline: float) -> Engine:
    return TogetherEngine(ours, [_own_checks_engine(each, deadline) for each in own]) if own else ours


def _own_checks_engine(own: OwnChecks, deadline: float) -> OwnChecksEngine:
    try:
        engine = wasm.WasmEngine(own.module, deadline=deadline, entrypoints=(Entrypoint.FINDINGS,), blames_object=False)
    except errors.EngineError as error:
        raise errors.InputError(f"{own.source}: {error}") from None
    return OwnChecksEngine(source=own.source, keys=frozenset(entry.key for entry in own.entries), engine=engine)


def warnings(made: Evaluator, *, file: Path | None) -> list[str]:
    """Likely mistakes in usher.yaml, each with its line and key."""
    known = made.facts.names("", "Namespace")
    doubts = [
        *config_problems.warnings(made.config, known),
        *config_problems.expired(made.config, made.today()),
        *config_problems.absent(made.config, made.catalogue),
    ]
    found = load.locate_problems(file, doubts)
    source = "usher.yaml" if file is None else str(file)
    return [
        f"{source}:{line}: {key}: {reason}" if line else f"{source}: {key}: {reason}" for line, key, reason in found
    ]


def _refuse(config: models.Config, entries: catalogue.Catalogue, file: Path | None) -> None:
    problems = config_problems.problems(config, entries)
    if problems:
        raise load.config_error(file, problems)


def compile_ahead() -> Path:
    """Compiles the packaged policies into machine code beside them, from which `embedded` then starts.

    Raises:
        BundleError: the policies are missing, or their files are of different builds.
        InputError: the folder of the policies cannot be written.
    """
    policies = catalogue.load()
    file = wasm_runtime.machine_code_file(policies.directory, policies.module)
    wasm_runtime.write_machine_code(policies.module, file)
    return file
