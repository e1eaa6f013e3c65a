"""Pods."""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.templates import Template


def _pod(pod: Mapping[str, paths.Json], _reading: Reading) -> Iterator[Template]:
    yield Template(name="", value=pod, path=paths.ROOT)


KINDS = [
    Kind(
        group="",
        versions=("v1",),
        kind="Pod",
        plural="pods",
        templates=_pod,
        role=model.Role.UNKNOWN,
        queue_label_path="/metadata",
    ),
]
