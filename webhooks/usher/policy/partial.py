"""What may be said of pods of which only a part is known: nothing is held against them that the rest may mend. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from usher import model


def with_doubt(findings: Iterable[model.Finding], workload: model.Workload) -> Iterator[model.Finding]:
    """The findings, of which those about such pods rest on an assumption, so that they warn at most.

    Their pods are whole when they are created, and judged then.
    """
    partial = [pod_set for pod_set in workload.pod_sets if not pod_set.whole]
    for finding in findings:
        if finding.assumption:
            yield finding
        elif workload.is_template:
            yield replace(finding, assumption=f"what refers to a {workload.kind} may say the rest of its pods")
        elif any(_is_about(finding, pod_set) for pod_set in partial):
            yield replace(finding, assumption="what is not known here may say the rest of its pods")
        else:
            yield finding


def _is_about(finding: model.Finding, pod_set: model.PodSet) -> bool:
    containers = (container.path for container in pod_set.containers)
    places = (pod_set.path, pod_set.spec_path, *containers, *pod_set.places.values())
    return any(finding.path == place or finding.path.startswith(f"{place}/") for place in places)
