"""The error tree. What is raised on purpose anywhere in usher is one of these.

UsherError
├── InputError              what was handed in cannot be used; the caller can mend it (CLI exit 2, HTTP 4xx)
│   ├── ManifestError       a file or stream is not the YAML or JSON that Kubernetes takes
│   ├── ReviewError         a request is not an AdmissionReview that we answer; carries the HTTP status
│   ├── ConfigError         usher.yaml, with line and key
│   └── QuantityError       a text is not a Kubernetes quantity
├── BundleError             the policies on disk are not those that were built and tested together
├── EngineError             the engine gave no usable answer (HTTP 5xx, so that failurePolicy decides)
│   └── DeadlineError       it took longer than it may
├── MutationError           our own patch would not apply; never sent
├── CertificateError        a certificate or key cannot be read, made or used
└── ClusterError            the API server cannot be reached or refuses to answer
    └── StalledError        it has sent nothing for too long

A refused workload is no error: it is a `Decision`.
"""


class UsherError(Exception):
    """Base of all errors that usher raises on purpose; the message names the thing, the place and the remedy."""


class InputError(UsherError):
    """What was handed in cannot be used."""


class ManifestError(InputError):
    """A document is not YAML or JSON that Kubernetes would take.

    `source` is a file name or `<stdin>`; `line` and `column` count from 1, 0 where unknown.
    """

    def __init__(self, reason: str, *, source: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"{source}:{line}:{column}: {reason}" if line else f"{source}: {reason}")
        self.reason = reason
        self.source = source
        self.line = line
        self.column = column


class ReviewError(InputError):
    """A request is not an AdmissionReview that we answer; `status` is the HTTP status to send."""

    def __init__(self, reason: str, *, status: int = 400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class ConfigError(InputError):
    """usher.yaml cannot be used as it is.

    `problems` are (line, key, reason); the line is 0 where unknown, the key a dotted path.
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
    """The policies on disk are not those that were built and tested together."""


class EngineError(UsherError):
    """The policy engine gave no usable answer."""


class DeadlineError(EngineError):
    """The policy engine took longer than it may."""


class MutationError(UsherError):
    """The patch that we built does not apply to the object it was built for."""


class CertificateError(UsherError):
    """A certificate or key cannot be read, made or used."""


class ClusterError(UsherError):
    """The API server cannot be reached or refuses to answer."""


class StalledError(ClusterError):
    """The API server has sent nothing for longer than it may."""
