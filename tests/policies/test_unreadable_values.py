"""usher refuses values that it cannot read, so that a tenant cannot get around a rule with them."""

import copy
import io
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

import shared_files
from shared_files import Corpus
from usher import model, paths
from usher.check import sources
from usher.config import models
from usher.kinds.reading import values
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator

VARIABLE: Final = "NVIDIA_VISIBLE_DEVICES"
UNREADABLE: Final[list[paths.Object]] = [
    {"name": VARIABLE, "value": "$(OTHER)"},
    {"name": VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['devices']"}}},
    {"name": VARIABLE, "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "devices", "optional": True}}},
    {"name": VARIABLE, "valueFrom": {"secretKeyRef": {"name": "settings", "key": "devices"}}},
    {"name": VARIABLE, "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
]


CONTAINER: Final = re.compile(
    r"/(?:containers|initContainers|ephemeralContainers|sidecars|steps)/[0-9]+\Z|/container\Z"
)
"""The end of the path of a container that stands in the manifest; operators make others."""


def with_variable(value: paths.Object, container: model.Container, entry: paths.Object) -> Any:
    """The object with one more variable in a container; None where its variables stand elsewhere."""
    changed: Any = copy.deepcopy(value)
    try:
        place: Any = paths.resolve(changed, container.path)
    except LookupError:
        return None
    # The variables of a Tekton step with `ref` are those of the object that it names.
    if not CONTAINER.search(container.path) or container.environment_path or "ref" in place:
        return None
    place["env"] = [*(place.get("env") or []), entry]
    return changed


def containers(workload: model.Workload) -> Iterator[model.Container]:
    return (container for pod_set in workload.pod_sets for container in pod_set.containers)


def requests(corpus: Corpus) -> Iterator[Request]:
    for batch in sources.read([str(corpus.folder)], stdin=io.BytesIO()):
        objects = values.Objects((item.value for item in batch.items), namespace="default")
        for item in batch.items:
            yield Request(value=item.value, namespace="default", objects=objects, place="check")


def refused(evaluator: Evaluator, request: Request, value: paths.Object) -> bool:
    """Whether the variable is denied, or would be if all of the pod were known."""
    decision = evaluator.decide(Request(value=value, namespace="default", objects=request.objects, place="check"))
    return any(judgement.code == "USH201" for judgement in decision.judgements)


@pytest.mark.costly
@pytest.mark.parametrize("corpus", shared_files.thorough_corpora)
def test_a_device_variable_that_usher_cannot_read_is_refused_in_every_container(corpus: Corpus) -> None:
    """The first container of every manifest takes each value in turn, and the others take one of them."""
    config = models.Config()
    evaluator = assembly.embedded(config)
    tried, passed = 0, []
    for request in requests(corpus):
        workload = evaluator.workload(request)
        if workload is None or workload.namespace in config.priorities.system_namespaces:
            continue
        for number, container in enumerate(containers(workload)):
            for entry in UNREADABLE if number == 0 else UNREADABLE[:1]:
                value = with_variable(request.value, container, entry)
                if value is not None:
                    tried += 1
                    if not refused(evaluator, request, value):
                        passed.append((workload.kind, workload.name, container.path, entry))

    assert tried > 100
    assert passed == []
