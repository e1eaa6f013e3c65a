"""The findings about an object, each with its place in the text and its pod set."""

from usher import model, paths
from usher.scan import findings
from usher.scan.positions import Pointer


def of(
    decision: model.Decision, workload: model.Workload, pointer: Pointer, *, before: paths.Object, judged: paths.Object
) -> tuple[findings.Finding, ...]:
    """The findings with their places.

    Args:
        decision: the findings.
        workload: the workload of the findings.
        pointer: finds places in the text.
        before: the object as its author wrote it.
        judged: the judged object, which mutations may have changed.
    """
    return tuple(
        findings.Finding(
            judgement=each,
            place=pointer.place(each.finding.path),
            pod_set=_pod_set(workload, each.finding.path),
            added=_is_added(each.finding.path, before, judged),
        )
        for each in decision.judgements
    )


def _is_added(path: str, before: paths.Object, judged: paths.Object) -> bool:
    """Whether a place exists only because of the mutations."""
    return judged is not before and _exists(judged, path) and not _exists(before, path)


def _exists(value: paths.Object, path: str) -> bool:
    try:
        paths.resolve(value, path)
    except (LookupError, ValueError):
        return False
    return True


def _pod_set(workload: model.Workload, path: str) -> findings.PodSet | None:
    """The innermost pod set that holds a place."""
    around = [
        pod_set
        for pod_set in workload.pod_sets
        if path == pod_set.path or path.startswith((f"{pod_set.path}/", f"{pod_set.spec_path}/"))
    ]
    if not around:
        return None
    found = max(around, key=lambda pod_set: len(pod_set.path))
    return findings.PodSet(name=found.name, pods=found.count)
