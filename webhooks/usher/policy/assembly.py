"""Puts an evaluator together: bundle, engine, configuration."""

from pathlib import Path

from usher.config import load, models
from usher.facts.store import Store
from usher.policy import config_problems
from usher.policy.checks import bundle, catalogue
from usher.policy.engines import machine_code, wasm
from usher.policy.engines.engine import ENTRIES, CachedEngine
from usher.policy.evaluator import Evaluator


def embedded(
    config: models.Config,
    *,
    file: Path | None = None,
    directory: Path | None = None,
    facts: Store | None = None,
    remembered: int = ENTRIES,
) -> Evaluator:
    """An evaluator with the embedded engine and the packaged policies.

    Args:
        config: usher.yaml.
        file: the file of usher.yaml, so that errors can name its lines.
        directory: a folder with policies to use instead of the packaged ones.
        facts: the facts of the cluster.
        remembered: how many answers the engine remembers, for inputs of up to 8 KiB.

    Raises:
        BundleError: the policies are missing, or their files are of different builds.
        ConfigError: usher.yaml names a check or a parameter that does not exist, which would have no effect.
    """
    policies = bundle.load(directory)
    _refuse(config, policies.catalogue, file)
    # What lies beside policies from elsewhere is not trusted.
    ahead = None if directory else machine_code.file_beside(policies.directory, policies.module)
    engine = CachedEngine(wasm.WasmEngine(policies.module, ahead=ahead), entries=remembered)
    return Evaluator(engine=engine, entries=policies.catalogue, config=config, facts=facts)


def remote(  # noqa: PLR0913 - the server, and the file that errors name
    config: models.Config,
    *,
    url: str,
    file: Path | None = None,
    ca_file: Path | None = None,
    token_file: Path | None = None,
    directory: Path | None = None,
    facts: Store | None = None,
) -> Evaluator:
    """An evaluator that asks the OPA server at `url`, which must have our policies in the revision packaged here.

    Nothing is sent yet. `OpaEngine.ready` asks whether the server is there and has them.

    Raises:
        BundleError: the policies are missing, or their files are of different builds.
        ConfigError: usher.yaml names a check or a parameter that does not exist, which would have no effect.
        InputError: the URL is not one of a server.
        CertificateError: `ca_file` has no certificates to trust the server by.
        EngineError: `token_file` has no bearer token.
    """
    from usher.policy.engines.opa import (
        OpaEngine,
        Server,  # its client takes long to import, and most sites never use it
    )

    policies = bundle.load(directory)
    _refuse(config, policies.catalogue, file)
    server = Server(url=url, ca_file=ca_file, token_file=token_file)
    opa = OpaEngine(server, revision=policies.source_revision)
    return Evaluator(engine=opa, entries=policies.catalogue, config=config, facts=facts)


def warnings(made: Evaluator, *, file: Path | None) -> list[str]:
    """What usher.yaml may not mean, each with its line and key."""
    known = made.facts.names("", "Namespace")
    found = load.located(file, list(config_problems.warnings(made.config, known)))
    source = "usher.yaml" if file is None else str(file)
    return [
        f"{source}:{line}: {key}: {reason}" if line else f"{source}: {key}: {reason}" for line, key, reason in found
    ]


def _refuse(config: models.Config, entries: catalogue.Catalogue, file: Path | None) -> None:
    problems = config_problems.problems(config, entries)
    if problems:
        raise load.refusal(file, problems)


def compile_ahead() -> Path:
    """Compiles the packaged policies into machine code beside them, which `embedded` then starts from.

    Raises:
        BundleError: the policies are missing, or their files are of different builds.
        InputError: the folder of the policies cannot be written.
    """
    policies = bundle.load()
    file = machine_code.file_beside(policies.directory, policies.module)
    machine_code.write(policies.module, file)
    return file
