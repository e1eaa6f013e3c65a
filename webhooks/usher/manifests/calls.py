"""How the API server calls the webhooks."""

from typing import Final, Literal

from usher.dataclass import dataclass

FailurePolicy = Literal["Ignore", "Fail"]

MUTATE_TIMEOUT: Final = 1
VALIDATE_TIMEOUT: Final = 3
"""Seconds, as for Gatekeeper; a healthy review takes less than a thousandth of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How the API server reaches usher: by a Service, or in development by a URL."""

    service: str = "gpu-usher"
    namespace: str = "gpu-usher"
    url: str = ""
    ca_bundle: bytes = b""
    """PEM; empty if another controller fills it in (cert-manager)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How long the API server waits for the webhooks of workloads, and what it does without an answer.

    With Fail it refuses requests that meet the match conditions of `conditions`, and accepts all others.
    """

    mutate_failure_policy: FailurePolicy = "Ignore"
    validate_failure_policy: FailurePolicy = "Ignore"
    mutate_timeout: int = MUTATE_TIMEOUT
    validate_timeout: int = VALIDATE_TIMEOUT
    """Seconds, from 1 to 30."""
