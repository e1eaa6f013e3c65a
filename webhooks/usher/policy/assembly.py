"""Puts an evaluator together: bundle, engine, configuration."""

from pathlib import Path

from usher import errors
from usher.config import models
from usher.policy import bundle, catalogue
from usher.policy._wasm import WasmEngine
from usher.policy.cache import CachedEngine
from usher.policy.evaluator import Evaluator


def embedded(config: models.Config, *, directory: Path | None = None) -> Evaluator:
    """An evaluator with the embedded engine and the packaged policies.

    Raises:
        BundleError: the policies are missing or not those that were built together.
        ConfigError: usher.yaml names a check that does not exist; it would silently do nothing.
    """
    policies = bundle.load(directory)
    _refuse_unknown_checks(config, policies.catalogue)
    return Evaluator(engine=CachedEngine(WasmEngine(policies.module)), entries=policies.catalogue, config=config)


def remote(
    config: models.Config,
    *,
    url: str,
    ca_file: Path | None = None,
    token_file: Path | None = None,
    directory: Path | None = None,
) -> Evaluator:
    """An evaluator that asks the OPA server at `url`, which must have our policies in the revision packaged here.

    Nothing is sent yet: whether the server is there and has them is what `OpaEngine.ready` says.

    Raises:
        BundleError: the policies are missing or not those that were built together.
        ConfigError: usher.yaml names a check that does not exist; it would silently do nothing.
        InputError: the URL is none of a server.
        CertificateError: `ca_file` has no certificates to trust the server by.
        EngineError: `token_file` has no bearer token.
    """
    from usher.policy._opa import OpaEngine, Server  # its client takes long to import, and most sites never use it

    policies = bundle.load(directory)
    _refuse_unknown_checks(config, policies.catalogue)
    server = Server(url=url, ca_file=ca_file, token_file=token_file)
    opa = OpaEngine(server, revision=policies.source_revision)
    return Evaluator(engine=opa, entries=policies.catalogue, config=config)


def _refuse_unknown_checks(config: models.Config, entries: catalogue.Catalogue) -> None:
    known = {"*", *(name for entry in entries.checks.values() for name in (entry.code, entry.name))}
    problems = [
        (0, f"enforcement.rules[{index}].check", f"there is no check {rule.check!r}; `usher policies list` shows all")
        for index, rule in enumerate(config.enforcement.rules)
        if rule.check not in known
    ]
    if problems:
        raise errors.ConfigError("usher.yaml", problems)
