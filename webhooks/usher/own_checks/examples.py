"""The example manifests of own checks, as input documents for the rules."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from usher import errors, paths
from usher.cluster.facts.store import Store
from usher.config import load, models
from usher.dataclass import dataclass
from usher.documents import chunks, reader
from usher.kinds.reading import values
from usher.own_checks.folders import Check
from usher.policy import config_problems, example
from usher.policy.checks.catalogue import Catalogue

KINDS: Final = ("bad", "good", "unknown")
"""Starts of example names: the check finds something, finds nothing, or cannot decide."""
_BESIDE: Final = ("cluster.yaml", "usher.yaml")
"""Files beside the examples: facts of the cluster, and the configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example of a check."""

    file: Path
    kind: str
    """One of KINDS."""
    document: bytes
    """JSON."""


def read(check: Check, catalogue: Catalogue) -> list[Example]:
    """The examples of a check, by name.

    Args:
        check: the check.
        catalogue: usher's checks and all own checks, which `usher.yaml` may name.

    Raises:
        InputError: an example cannot be read, is not an object that usher judges, or its name does not say its kind.
    """
    folder = check.examples
    files = [file for file in sorted(folder.glob("*")) if file.suffix in (".yaml", ".yml", ".json")]
    config = _configuration(folder / "usher.yaml", catalogue)
    facts = folder / "cluster.yaml"
    cluster = Store.of(_objects(facts)) if facts.exists() else Store()
    return [_example(file, config, catalogue.keys_of_checks, cluster) for file in files if file.name not in _BESIDE]


def _configuration(file: Path, catalogue: Catalogue) -> models.Config:
    if not file.exists():
        return models.Config()
    found = load.load(file, more=lambda config: config_problems.problems(config, catalogue))
    if problems := config_problems.problems(found, catalogue):
        raise load.config_error(file, problems)
    return found


def _example(file: Path, config: models.Config, keys: Mapping[str, str], cluster: Store) -> Example:
    kind = file.name.partition("_")[0]
    if kind not in KINDS:
        raise errors.InputError(
            f"{file}: begin the name with bad_, good_ or unknown_, so that it says what the check finds"
        )
    objects = _objects(file)
    if not objects:
        raise errors.InputError(f"{file}: holds no object")
    first, *others = objects
    request = first.get("request")
    if first.get("kind") == "AdmissionReview" and not (isinstance(request, dict) and request.get("object")):
        raise errors.InputError(f"{file}: the AdmissionReview has no request.object")
    around = values.Objects(objects) if others else values.NO_OBJECTS
    try:
        document = example.document_of(first, around, config=config, keys=keys, cluster=cluster)
    except errors.InputError as error:
        raise errors.InputError(f"{file}: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise errors.InputError(f"{file}: is not a Kubernetes object or an AdmissionReview that usher reads") from None
    return Example(file=file, kind=kind, document=document)


def _objects(file: Path) -> list[paths.Object]:
    try:
        with file.open("rb") as stream:
            content = stream.read(chunks.MAX_FILE_BYTES + 1)
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    return [each.value for each in reader.parse(content, source=str(file)) if isinstance(each.value, dict)]
