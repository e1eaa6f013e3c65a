"""The input document of an example manifest of a check, made as for a real object."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from usher import errors
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import beside
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.reading import values
from usher.kinds.reading.values import Absence
from usher.policy.decision import Identities, User
from usher.policy.input import document as input_cluster
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles


def document_of(
    value: Any,  # noqa: ANN401 - a manifest is arbitrary YAML
    others: values.Lookup,
    *,
    config: models.Config,
    keys: Mapping[str, str],
    cluster: Store,
) -> bytes:
    """The input document for a manifest, or for an AdmissionReview with a user or an old object, as JSON.

    Args:
        value: the example.
        others: the other objects of its file, which `usher check` knows and a review does not.
        config: usher.yaml of the examples.
        keys: keys of checks by the words that usher.yaml may use.
        cluster: the facts that the examples are for.

    Raises:
        InputError: usher does not judge the object, or cannot read a part of it.
    """
    request = value["request"] if value["kind"] == "AdmissionReview" else {"object": value}
    vocabulary = Vocabulary(config.accelerators)
    namespace = request.get("namespace", "")
    read = partial(normalise, vocabulary=vocabulary, namespace=namespace, roles=Roles(config))
    workload = read(request["object"], objects=cluster)
    if workload is None:
        raise errors.InputError("usher judges no objects of this kind")
    # The webhooks do not know the objects that an example refers to, either.
    misread = [each for each in workload.unknowns if Absence.NOT_KNOWN.value not in each.reason]
    if misread:
        raise errors.InputError(f"usher cannot read {misread[0].path}: {misread[0].reason}")
    old = request.get("oldObject")
    known = Knowledge(facts=cluster, config=config, vocabulary=vocabulary)
    case = Case(workload=workload, beside=beside.of(workload, others, known))
    return input_cluster.Documents(known, keys=keys).build(
        workload,
        old=None if old is None else read(old),
        review=_review(request, config),
        cluster=input_cluster.cluster_input(case, known),
        beside=case.beside,
    )


def _review(request: Mapping[str, Any], config: models.Config) -> input_cluster.Review | None:
    user = request.get("userInfo")
    by = Identities(config).of(
        None if user is None else User(name=user["username"], groups=tuple(user.get("groups", ())))
    )
    if by is None:
        return None
    return {"operation": request["operation"], "subResource": request.get("subResource", ""), "by": list(by)}
