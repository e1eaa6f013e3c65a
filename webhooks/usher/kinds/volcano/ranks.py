"""Finds the tasks of a Volcano Job whose ranks sshd starts; these ranks do not see the variables of their container."""

import re
from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.reading.templates import Template
from usher.reading.values import Reading

_MPI_WORKER_OPTION: Final = "--worker="

_BY_HAND: Final = frozenset({"ssh", "svc"})
"""The plugins with which a Job runs MPI without the plugin mpi: keys for sshd, and names for the host file."""

_FRAMEWORKS: Final = frozenset({"mpi", "pytorch", "ray", "tensorflow"})

_LAUNCHERS: Final = re.compile(r"\b(?:torchrun|torch\.distributed|accelerate\s+launch)\b")
"""Start ranks in their own container; people often add ssh and svc to these Jobs as well."""

_LONGEST: Final = 4096


def see_environment(template: Template, plugins: Mapping[str, paths.Json], path: str, reading: Reading) -> bool:
    """Whether the ranks of a task see the variables of their container.

    Args:
        template: the task.
        plugins: the plugins of the Job.
        path: their path.
        reading: records what cannot be read.
    """
    if "mpi" in plugins:
        options = reading.texts(plugins["mpi"], path + "/mpi")
        named = [option.removeprefix(_MPI_WORKER_OPTION) for option in options if option.startswith(_MPI_WORKER_OPTION)]
        return template.name != (named[-1] if named else "worker")
    by_hand = plugins.keys() >= _BY_HAND and plugins.keys().isdisjoint(_FRAMEWORKS)
    return not by_hand or _launches_ranks(template)


def _launches_ranks(template: Template) -> bool:
    spec = template.spec.value
    containers = spec.get("containers") if isinstance(spec, dict) else None
    for container in containers if isinstance(containers, list) else ():
        if isinstance(container, dict):
            parts = [container.get("command"), container.get("args")]
            words = [word for part in parts if isinstance(part, list) for word in part if isinstance(word, str)]
            if _LAUNCHERS.search(" ".join(words)[:_LONGEST]):
                return True
    return False
