"""All objects of the floor, in the order to apply them, and their names."""

from collections.abc import Collection, Iterator
from datetime import date

from usher import paths
from usher.config import models
from usher.manifests.floor import mutation, policies
from usher.manifests.floor.checks import CHECKS
from usher.manifests.webhooks import NAME
from usher.policy.checks.catalogue import Catalogue


def of(
    config: models.Config, catalogue: Catalogue, *, today: date, static: bool = False, only: Collection[str] = ()
) -> list[paths.Object]:
    """The policies with their bindings; see `policies.validating`."""
    entry = catalogue.mutations[mutation.KEY]
    wanted = not only or not {entry.code, entry.name}.isdisjoint(only)
    return [
        *policies.validating(config, catalogue, today=today, static=static, only=only),
        *(mutation.mutating(config, catalogue, static=static) if wanted else []),
    ]


def names(catalogue: Catalogue) -> set[str]:
    """The words that `only` accepts for parts of the floor."""
    entries = [*(catalogue.checks[key] for key in CHECKS), catalogue.mutations[mutation.KEY]]
    return {word for entry in entries for word in (entry.code, entry.name)}


def installed() -> Iterator[tuple[str, str]]:
    """The kind and the name of every object that a floor can have, bindings first."""
    for key in CHECKS:
        for suffix in ("", "-templates"):
            name = f"{NAME}-{_name(key)}{suffix}"
            yield from ((f"ValidatingAdmissionPolicy{kind}", name) for kind in ("Binding", ""))
    yield from ((f"MutatingAdmissionPolicy{kind}", f"{NAME}-{_name(mutation.KEY)}") for kind in ("Binding", ""))


def _name(key: str) -> str:
    return key.rpartition("/")[2].replace("_", "-")
