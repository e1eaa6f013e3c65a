"""Puts an evaluator together: bundle, engine, configuration."""

from pathlib import Path

from usher.config import models
from usher.policy import bundle
from usher.policy._wasm import WasmEngine
from usher.policy.evaluator import Evaluator


def embedded(config: models.Config, *, directory: Path | None = None) -> Evaluator:
    """An evaluator with the embedded engine and the packaged policies.

    Raises:
        BundleError: the policies are missing or not those that were built together.
    """
    policies = bundle.load(directory)
    return Evaluator(engine=WasmEngine(policies.module), entries=policies.catalogue, config=config)
