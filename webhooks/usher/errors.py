"""The error tree. usher raises only these errors on purpose.

UsherError
├── InputError              the input is not usable; the caller can correct it (CLI exit 2, HTTP 4xx)
│   ├── ManifestError       a file or stream is not the YAML or JSON that Kubernetes accepts
│   ├── ReviewError         a request is not an AdmissionReview that usher answers; has the HTTP status
│   ├── ConfigError         usher.yaml, with line and key
│   └── QuantityError       a text is not a Kubernetes quantity
├── BundleError             the policies on disk were not built and tested together
├── EngineError             the engine gave no usable answer (HTTP 5xx, so that failurePolicy decides)
│   ├── DeadlineError       the engine exceeded its time limit
│   └── ExhaustedError      one object needs more time or memory than an evaluation has; usher denies it
├── MutationError           usher's own patch would not apply, and is not sent
├── CertificateError        a certificate or key cannot be read, made or used
├── PrometheusError         Prometheus cannot be reached, or its answer cannot be used
└── ClusterError            the API server cannot be reached or refuses to answer
    ├── UnavailableError    it is busy, fails or does not answer: a later try may succeed
    ├── CountingError       a quota is being counted, so a charge has to try again
    └── StalledError        the API server has sent nothing for too long

A refused workload is not an error: it is a `Decision`.
"""


class UsherError(Exception):
    """Base of all errors that usher raises on purpose; the message names the thing, the place and the remedy."""


class InputError(UsherError):
    """The input is not usable."""


class ManifestError(InputError):
    """A document is not YAML or JSON that Kubernetes accepts.

    `source` is a file name or `<stdin>`; `line` and `column` count from 1, and are 0 where unknown.
    """

    def __init__(self, reason: str, *, source: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"{source}:{line}:{column}: {reason}" if line else f"{source}: {reason}")
        self.reason = reason
        self.source = source
        self.line = line
        self.column = column


class ReviewError(InputError):
    """A request is not an AdmissionReview that usher answers; `status` is the HTTP status to send."""

    def __init__(self, reason: str, *, status: int = 400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class ConfigError(InputError):
    """usher.yaml is not usable.

    `problems` are (line, key, reason). The line is 0 where unknown; the key is a dotted path.
    """

    def __init__(self, source: str, problems: list[tuple[int, str, str]]) -> None:
        lines = [
            ": ".join(filter(None, (f"{source}:{line}" if line else source, key, reason)))
            for line, key, reason in problems
        ]
        super().__init__("\n".join(lines))
        self.source = source
        self.problems = problems


class QuantityError(InputError):
    """A text is not a Kubernetes quantity."""


class BundleError(UsherError):
    """The policies on disk were not built and tested together."""


class EngineError(UsherError):
    """The policy engine gave no usable answer."""


class DeadlineError(EngineError):
    """The policy engine exceeded its time limit."""


class ExhaustedError(EngineError):
    """One object needs more than an evaluation has, whatever else the server does.

    `needs` says what it needs: a message goes on with it after `has`.
    """

    def __init__(self, needs: str) -> None:
        super().__init__(f"the object has {needs}")
        self.needs = needs


class WorkerError(UsherError):
    """Another process of a run ended or failed before its files were judged."""


class MutationError(UsherError):
    """A patch that usher built does not apply to its object."""


class CertificateError(UsherError):
    """A certificate or key cannot be read, made or used."""


class PrometheusError(UsherError):
    """Prometheus cannot be reached, or its answer cannot be used."""


class ClusterError(UsherError):
    """The API server cannot be reached or refuses to answer."""


class UnavailableError(ClusterError):
    """The API server is busy, fails or does not answer now; a later try may succeed."""


class CountingError(ClusterError):
    """usher counts what exists in the namespaces of a quota, so it cannot tell yet whether a charge fits."""


class StalledError(ClusterError):
    """The API server has sent nothing for too long."""
