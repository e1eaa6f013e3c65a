"""The evidence for a workload's role in the programs and images of its containers."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from usher import model
from usher.config import fields
from usher.workloads import program_families, programs
from usher.workloads.program_families import Family
from usher.workloads.programs import Program

_REFINED: Final[Mapping[model.Role, frozenset[model.Role]]] = {
    model.Role.UNKNOWN: frozenset({
        model.Role.TRAINING, model.Role.INFERENCE, model.Role.INTERACTIVE, model.Role.BATCH,
    }),
    model.Role.SERVICE: frozenset({
        model.Role.TRAINING, model.Role.INFERENCE, model.Role.INTERACTIVE, model.Role.BATCH,
    }),
    model.Role.BATCH: frozenset({model.Role.TRAINING, model.Role.INTERACTIVE}),
    model.Role.TRAINING: frozenset({model.Role.BATCH, model.Role.INFERENCE}),
    model.Role.INFERENCE: frozenset({model.Role.TRAINING, model.Role.BATCH}),
    model.Role.SYSTEM: frozenset({model.Role.TRAINING, model.Role.INFERENCE}),
}  # fmt: skip
"""By the role of the kind, the roles that a program can give instead. A Job that runs a model server is a batch of
requests, because it ends.
"""

_ORDER: Final = tuple(dict.fromkeys(family.role for family in program_families.ALL))
_NOT_TESTS: Final = tuple(family for family in program_families.ALL if family not in program_families.TESTS)

_SHOWN_WORDS: Final = 3
_SHOWN_LETTERS: Final = 80

_NODES_FLAGS: Final = ("--nnodes", "--num_machines", "--num-machines")
_ONE_NODE: Final = ("1", "1:1")
_SPANNING_FLAGS: Final = (
    "--hostfile", "--hosts", "--machine_rank", "--main_process_ip", "--master-addr", "--master_addr", "--node-rank",
    "--node_rank", "--rdzv-endpoint", "--rdzv_endpoint",
)  # fmt: skip


class Evidence(NamedTuple):
    """The evidence of one container."""

    role: model.Role
    reason: str
    by_command: bool
    starts_something_else: bool = False
    """Whether the container has the image but starts a program that usher does not know."""
    spans_pods: bool = False
    """Whether the command starts one job over several pods."""


def of_workload(pod_sets: Sequence[model.PodSet], base: model.Role) -> Evidence | None:
    """The evidence of the containers that request accelerators, or else of the other ones; None without evidence.

    A workload without accelerators has no evidence, because its kind is enough.

    Args:
        pod_sets: the pod sets of the workload.
        base: the role of the kind, which limits the roles that a program can give.
    """
    every = [each for pod_set in pod_sets for each in pod_set.containers if each.type is model.ContainerType.APP]
    asking = [each for each in every if each.asks_accelerators]
    beside = [each for each in every if not each.asks_accelerators] if asking else []
    for group in (asking, beside):
        found = [shown for each in group if (shown := _of_container(each)) and _may(shown, base)]
        if found:
            return min(found, key=lambda shown: _ORDER.index(shown.role))
    return None


def _may(shown: Evidence, base: model.Role) -> bool:
    if shown.role not in _REFINED.get(base, frozenset()):
        return False
    # Trainers and benchmarks use the images of servers too.
    if shown.role is model.Role.INFERENCE and not shown.by_command:
        return base is not model.Role.TRAINING and not (base is model.Role.UNKNOWN and shown.starts_something_else)
    return True


def _of_container(container: model.Container) -> Evidence | None:
    found = _of_command(container.command) if container.command else None
    if found is None and not container.idle_command and container.image:
        found = _of_image(container.image)
        if found is not None and _starts_something(container.command):
            found = found._replace(starts_something_else=True)
    return None if found is None else found._replace(reason=f"{container.type} {container.name} {found.reason}")


@lru_cache(maxsize=1024)
def _of_command(command: tuple[str, ...]) -> Evidence | None:
    started = [each for each in programs.read(command) if not programs.is_beside(each)]
    for family in _NOT_TESTS:
        program = _first(started, family)
        if program is not None:
            return _shown(program, family, spans_pods=_spans_pods(program))
    return _of_tests(started)


@lru_cache(maxsize=1024)
def _starts_something(command: tuple[str, ...]) -> bool:
    return not all(map(programs.is_beside, programs.read(command)))


def _of_tests(started: Sequence[Program]) -> Evidence | None:
    """The evidence of tests, if the container starts nothing else: many trainers begin with nvidia-smi."""
    found = [(each, family) for each in started for family in program_families.TESTS if _belongs(each, family)]
    tests = {each for each, _ in found}
    others = [each for each in started if not each.by_mpi and each not in tests and not programs.is_mpi_launcher(each)]
    return _shown(*found[0]) if found and not others else None


def _first(started: Iterable[Program], family: Family) -> Program | None:
    return next((each for each in started if _belongs(each, family)), None)


def _belongs(program: Program, family: Family) -> bool:
    return any(fields.command_fits(program.words, pattern) for pattern in family.commands)


def _shown(program: Program, family: Family, *, spans_pods: bool = False) -> Evidence:
    words = " ".join(program.words[: _SHOWN_WORDS if program.words[0] == "python" else 1])
    return Evidence(
        family.role, f"runs {words[:_SHOWN_LETTERS]}: {family.name}", by_command=True, spans_pods=spans_pods
    )


@lru_cache(maxsize=1024)
def _of_image(image: str) -> Evidence | None:
    for family in program_families.ALL:
        if any(fields.image_fits(image, pattern) for pattern in family.images):
            name = fields.without_tag(image)
            return Evidence(family.role, f"has the image {name[-_SHOWN_LETTERS:]}: {family.name}", by_command=False)
    return None


def _spans_pods(program: Program) -> bool:
    """Whether a launcher starts one job over several pods. An unknown number counts as several."""
    if program.by_mpi:
        return True
    words = program.words
    if "--standalone" in words:
        return False
    for index, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in _SPANNING_FLAGS:
            return True
        if flag in _NODES_FLAGS:
            number = value if equals else words[index + 1] if index + 1 < len(words) else ""
            return number not in _ONE_NODE
    return False
