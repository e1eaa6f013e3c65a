"""The role of a workload, and why: by the rules of usher.yaml, its programs and images, its kind, and its label.

docs/architecture.md explains their order, and the limits of the label.

A command can do anything, so usher reads only plain forms: a program behind wrappers (`tini`, `env`), the statements of
a shell script, and the programs that an MPI launcher starts. It reads a limited length.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from usher import memo, model, paths
from usher.config import models, selection
from usher.config.sections import ROLE_LABEL, RoleRule
from usher.kinds import registry
from usher.kinds.kind import Pods
from usher.kinds.reading.templates import Template
from usher.kinds.reading.values import Reading
from usher.workloads import model_servers
from usher.workloads.model_servers import Family

Words = tuple[str, ...]

MOST_PROGRAMS: Final = 64
_LONGEST_COMMAND: Final = 16_384
_MOST_WORDS: Final = 256
_MOST_AFTER_LAUNCHER: Final = 96

_SHELLS: Final = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_RUNS_SCRIPT: Final = memo.pattern(r"-[a-z]{0,5}c[a-z]{0,5}")
_AROUND: Final = frozenset({
    "!", "(", "--", "catatonit", "do", "dumb-init", "else", "env", "exec", "if", "nohup", "sudo", "then", "time",
    "tini", "while", "{",
})  # fmt: skip
"""Words before a program that do not change what it does."""
_RUNNERS: Final = frozenset({("poetry", "run"), ("uv", "run")})
_MPI_LAUNCHERS: Final = frozenset({"mpiexec", "mpiexec.hydra", "mpirun", "srun"})
_STATEMENTS: Final = memo.pattern(r"[;&|\n]+")
_ASSIGNMENT: Final = memo.pattern(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_PYTHON: Final = memo.pattern(r"python[0-9.]*")
_BESIDE: Final = frozenset({
    ")", ".", ":", "[", "[[", "case", "cat", "cd", "chmod", "cp", "date", "done", "echo", "esac", "exit", "export",
    "fi", "hostname", "let", "ls", "mkdir", "printf", "pwd", "read", "rm", "set", "sleep", "source", "test", "trap",
    "true", "ulimit", "unset", "wait", "}",
})  # fmt: skip


class Program(NamedTuple):
    """A program that a container starts."""

    words: Words
    by_mpi: bool = False
    """Whether an MPI launcher starts it on all nodes of the job."""


def read_programs(command: Sequence[str]) -> tuple[Program, ...]:
    """The programs of a command with its arguments; empty for a command that is too long to read."""
    if sum(map(len, command)) > _LONGEST_COMMAND:
        return ()
    return tuple(
        program
        for program, _ in zip(_programs_of_words(list(command[:_MOST_WORDS])), range(MOST_PROGRAMS), strict=False)
    )


def is_beside(program: Program) -> bool:
    """Whether a program only prepares, prints or waits, so that it is not the work of its container.

    Options do not start a program either: without a command, `args` go to the program of the image.
    """
    name = program.words[0]
    return name in _BESIDE or name.startswith(("#", "-")) or bool(_ASSIGNMENT.fullmatch(name))


def is_mpi_launcher(program: Program) -> bool:
    """Whether a program starts others through MPI."""
    return _base(program.words[0]) in _MPI_LAUNCHERS


def _programs_of_words(words: list[str]) -> Iterator[Program]:
    words = _unwrapped(words)
    if not words:
        return
    name = _base(words[0])
    if name not in _SHELLS:
        yield from _started_programs(words)
        return
    for index, word in enumerate(words[1:-1], start=1):
        if _RUNS_SCRIPT.fullmatch(word):
            script = words[index + 1]
            if script == "--" and index + 2 < len(words):
                script = words[index + 2]
            yield from _programs_of_script(script)
            return
    yield from _started_programs(words[1:])


def _programs_of_script(script: str) -> Iterator[Program]:
    for statement in _STATEMENTS.split(script.replace("\\\n", " ")):
        words = _unwrapped(statement.split(maxsplit=_MOST_WORDS))
        if words and _base(words[0]) in _SHELLS:
            words = words[1:]
        yield from _started_programs(words)


def _started_programs(words: list[str]) -> Iterator[Program]:
    plain = _normalise_words(words)
    if not plain:
        return
    yield Program(plain)
    if _base(plain[0]) in _MPI_LAUNCHERS:
        # The options of launchers take values, so every word may be the program.
        for index in range(1, min(len(plain), _MOST_AFTER_LAUNCHER)):
            behind = () if plain[index].startswith("-") else _normalise_words(list(plain[index:]))
            if behind:
                yield Program(behind, by_mpi=True)


def _unwrapped(words: list[str]) -> list[str]:
    while words:
        name = _base(words[0])
        if name in _AROUND or _ASSIGNMENT.fullmatch(name):
            words = words[1:]
            while name in ("tini", "env", "sudo") and words and words[0].startswith("-"):
                words = words[1:]
        elif tuple(words[:2]) in _RUNNERS:
            words = words[2:]
        elif name in ("numactl", "stdbuf", "timeout"):
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
            words = words[1:] if name == "timeout" else words
        else:
            return words
    return words


def _normalise_words(words: list[str]) -> Words:
    """The words without quotes, with `python` for all its versions and without Python's options."""
    words = [word.strip("'\"()") for word in words]
    if not words or not words[0]:
        return ()
    if _PYTHON.fullmatch(_base(words[0])):
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
            rest = rest[1:]
        words = ["python", *rest]
    return tuple(words)


def _base(word: str) -> str:
    return word.strip("'\"").rpartition("/")[2]


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

_ORDER: Final = tuple(dict.fromkeys(family.role for family in model_servers.ALL))
_TESTS: Final = tuple(family for family in model_servers.ALL if family.role is model.Role.BATCH)
_NOT_TESTS: Final = tuple(family for family in model_servers.ALL if family not in _TESTS)

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


def evidence_of_workload(pod_sets: Sequence[model.PodSet], base: model.Role) -> Evidence | None:
    """The evidence of the containers that request accelerators, or else of the other ones; None without evidence.

    A workload without accelerators has no evidence, because its kind is enough.

    Args:
        base: the role of the kind, which limits the roles that a program can give.
    """
    every = [each for pod_set in pod_sets for each in pod_set.containers if each.type is model.ContainerType.APP]
    asking = [each for each in every if each.asks_accelerators]
    beside = [each for each in every if not each.asks_accelerators] if asking else []
    for group in (asking, beside):
        found = [shown for each in group if (shown := _evidence_of_container(each)) and _may_refine(shown, base)]
        if found:
            return min(found, key=lambda shown: _ORDER.index(shown.role))
    return None


def _may_refine(shown: Evidence, base: model.Role) -> bool:
    if shown.role not in _REFINED.get(base, frozenset()):
        return False
    # Trainers and benchmarks use the images of servers too.
    if shown.role is model.Role.INFERENCE and not shown.by_command:
        return base is not model.Role.TRAINING and not (base is model.Role.UNKNOWN and shown.starts_something_else)
    return True


def _evidence_of_container(container: model.Container) -> Evidence | None:
    found = _evidence_of_command(container.command) if container.command else None
    if found is None and not container.idle_command and container.image:
        found = _evidence_of_image(container.image)
        if found is not None and _starts_something(container.command):
            found = found._replace(starts_something_else=True)
    return None if found is None else found._replace(reason=f"{container.type} {container.name} {found.reason}")


@lru_cache(maxsize=1024)
def _evidence_of_command(command: tuple[str, ...]) -> Evidence | None:
    started = [each for each in read_programs(command) if not is_beside(each)]
    for family in _NOT_TESTS:
        program = _first_of_family(started, family)
        if program is not None:
            return _evidence(program, family, spans_pods=_spans_pods(program))
    return _evidence_of_tests(started)


@lru_cache(maxsize=1024)
def _starts_something(command: tuple[str, ...]) -> bool:
    return not all(map(is_beside, read_programs(command)))


def _evidence_of_tests(started: Sequence[Program]) -> Evidence | None:
    """The evidence of tests, if the container starts nothing else: many trainers begin with nvidia-smi."""
    found = [(each, family) for each in started for family in _TESTS if _belongs(each, family)]
    tests = {each for each, _ in found}
    others = [each for each in started if not each.by_mpi and each not in tests and not is_mpi_launcher(each)]
    return _evidence(*found[0]) if found and not others else None


def _first_of_family(started: Iterable[Program], family: Family) -> Program | None:
    return next((each for each in started if _belongs(each, family)), None)


def _belongs(program: Program, family: Family) -> bool:
    return any(selection.command_fits(program.words, pattern) for pattern in family.commands)


def _evidence(program: Program, family: Family, *, spans_pods: bool = False) -> Evidence:
    words = " ".join(program.words[: _SHOWN_WORDS if program.words[0] == "python" else 1])
    return Evidence(
        family.role, f"runs {words[:_SHOWN_LETTERS]}: {family.name}", by_command=True, spans_pods=spans_pods
    )


_CLIENTS: Final = "-sdk"
"""The end of tags of Triton with client programs (docs.nvidia.com/deeplearning/triton-inference-server/user-guide)."""


@lru_cache(maxsize=1024)
def _evidence_of_image(image: str) -> Evidence | None:
    if image.endswith(_CLIENTS):
        return None
    for family in model_servers.ALL:
        if any(selection.image_fits(image, pattern) for pattern in family.images):
            name = selection.without_tag(image)
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


_NOTEBOOK_LABELS: Final[Mapping[str, str | None]] = {
    "notebook-name": None,
    "component": "singleuser-server",
}
"""Labels of notebook pods, with their value if it matters: Kubeflow's notebook-controller
(controllers/notebook_controller.go) and JupyterHub's kubespawner (docs, "common labels").
"""

_CLASSES_OF_KAI: Final = ("build", "build-preemptible")
"""Priority classes of KAI-Scheduler for interactive work, which its label priorityClassName names
(github.com/NVIDIA/KAI-Scheduler/blob/main/docs/priority/README.md).
"""

_PLAIN_PODS: Final = (model.Role.SERVICE, model.Role.UNKNOWN)
"""Roles of the kinds that notebooks run as."""


class Purpose(NamedTuple):
    """The role of a workload, and its source."""

    role: model.Role
    reason: str
    refusal: str = ""
    """Why the label of the role does not count; empty if it does, and without a label."""
    spans_pods: bool = True
    """False for training in which each pod trains alone, as far as its command shows."""


class Subject(Struct, frozen=True, kw_only=True):
    """The properties of a workload that decide its role."""

    group: str
    kind: str
    namespace: str
    labels: Mapping[str, str]
    pod_sets: Sequence[model.PodSet]
    own: Pods
    """How the kind makes pods; for an object that holds others, how the inner kind makes them."""
    inner_kind: str = ""
    """The inner kind of an object that holds others."""
    owner_kind: str = ""
    owning: Pods | None = None
    """How the kind of the owner makes pods, if usher knows it."""


class _Entry(NamedTuple):
    """An entry of usher.yaml that applies only to some roles."""

    place: str
    namespaces: Sequence[str]
    roles: frozenset[str]


class Roles:
    """Finds roles by one configuration."""

    def __init__(self, config: models.Config) -> None:
        self._rules = tuple(enumerate(config.roles))
        self._rules_of = lru_cache(maxsize=1024)(self._find_rules)
        self._entries = tuple(_entries_by_role(config))
        self._refusal = lru_cache(maxsize=1024)(self._find_refusal)

    def of(self, subject: Subject, reading: Reading) -> Purpose:
        """The role of a workload. It records a label that does not name a role.

        Users can write labels, owners, images and commands. So a role states an intention, and is never a reason to
        trust a workload.
        """
        claimed = _role_of_label(subject.labels, reading)
        for index, rule in self._rules_of(subject.namespace):
            role = _role_of_rule(rule, subject) if _conditions_hold(rule, subject) else None
            if role is not None:
                trusting = "" if rule.from_label is None else f"its label {rule.from_label}, which "
                return Purpose(role, f"{trusting}roles[{index}] of usher.yaml{' trusts' if trusting else ''}")
        found = _role_without_rules(subject)
        if claimed is None:
            return found
        refusal = "" if claimed is found.role else self._refusal(subject.namespace, found.role, claimed)
        if refusal:
            return found._replace(reason=f"{found.reason}; {refusal}", refusal=refusal)
        return Purpose(claimed, f"its label {ROLE_LABEL}")

    def _find_rules(self, namespace: str) -> Sequence[tuple[int, RoleRule]]:
        return [
            each
            for each in self._rules
            if not each[1].namespaces or selection.matches_pattern(namespace, each[1].namespaces)
        ]

    def _find_refusal(self, namespace: str, found: model.Role, claimed: model.Role) -> str:
        """Why the label must not change the role; empty if it may, because the difference has no effect."""
        ignored = f"its label {ROLE_LABEL}: {claimed} does not count, because"
        if claimed is model.Role.SYSTEM:
            return f"{ignored} only usher.yaml and the kind make a workload part of the system"
        for entry in self._entries:
            differs = (found.value in entry.roles) != (claimed.value in entry.roles)
            if differs and selection.matches_pattern(namespace, entry.namespaces):
                return f"{ignored} {entry.place} of usher.yaml depends on the role and trusts no label"
        return ""


def inner_kind(templates: Sequence[Template], pod_sets: Sequence[model.PodSet]) -> tuple[tuple[str, str], Pods] | None:
    """The group and kind that decide the role of an object that holds others; None for any other object and unknown
    kinds.

    It is the first kind of the templates that request accelerators, or else of all templates.
    """
    inner = [template.inner_kind for template in templates]
    asking = [kind for kind, each in zip(inner, pod_sets, strict=True) if each.asks_accelerators]
    for key in asking or inner:
        if key is not None and key in registry.PODS:
            return key, registry.PODS[key]
    return None


def _entries_by_role(config: models.Config) -> Iterator[_Entry]:
    lists: tuple[tuple[str, Sequence[selection.Selector | models.EnforcementRule | models.MutationRule]], ...] = (
        ("queues", config.queues),
        ("routing", config.routing),
        ("priorities.classes", config.priorities.classes),
        ("enforcement.rules", config.enforcement.rules),
        ("mutations.rules", config.mutations.rules),
    )
    for name, entries in lists:
        for index, entry in enumerate(entries):
            if entry.roles:
                yield _Entry(f"{name}[{index}]", entry.namespaces, frozenset(entry.roles))
    for index, pool in enumerate(config.pools):
        if pool.serves is not None and pool.serves.roles:
            yield _Entry(f"pools[{index}].for", pool.serves.namespaces or ["*"], frozenset(pool.serves.roles))


def _role_of_label(labels: Mapping[str, str], reading: Reading) -> model.Role | None:
    label = labels.get(ROLE_LABEL)
    if not label:
        return None
    try:
        return model.Role(label)
    except ValueError:
        roles = ", ".join(model.Role)
        reading.unknown(paths.join("/metadata/labels", ROLE_LABEL), f"unknown role; usher has {roles}")
        return None


def _role_without_rules(subject: Subject) -> Purpose:
    """The role without the rules and the label."""
    own, why = subject.own, f"its kind, {subject.kind}"
    if subject.inner_kind:
        why = f"the {subject.inner_kind} in it"
    elif own.role is model.Role.UNKNOWN and subject.owning is not None:
        own, why = subject.owning, f"its owner, a {subject.owner_kind}"
    notebook = next((key for key, value in _NOTEBOOK_LABELS.items() if _has(subject.labels, key, value)), "")
    if notebook and own.role in _PLAIN_PODS:
        return Purpose(model.Role.INTERACTIVE, f"its label {notebook}")
    if own.role in _PLAIN_PODS and subject.labels.get("priorityClassName") in _CLASSES_OF_KAI and _is_of_kai(subject):
        return Purpose(model.Role.INTERACTIVE, "its priority class of KAI-Scheduler, by the label priorityClassName")
    shown = evidence_of_workload(subject.pod_sets, own.role) if own.runs_any_program else None
    if shown is not None:
        return Purpose(shown.role, shown.reason, spans_pods=shown.spans_pods or own.joins_its_pods)
    if own.role is model.Role.UNKNOWN:
        why = "neither its kind nor its programs say it"
    serving = _serving_container(subject.pod_sets) if own.role is model.Role.TRAINING else ""
    if serving and subject.kind != "MPIJob":  # workers of MPI have a probe of their SSH server
        return Purpose(model.Role.UNKNOWN, f"its kind often trains, but container {serving} has a readiness probe")
    return Purpose(own.role, why)


def _is_of_kai(subject: Subject) -> bool:
    return any(pod_set.scheduler_name == "kai-scheduler" for pod_set in subject.pod_sets)


def _serving_container(pod_sets: Sequence[model.PodSet]) -> str:
    """The first container with accelerators that says when it can answer requests; empty without one."""
    containers = (each for pod_set in pod_sets for each in pod_set.containers if each.asks_accelerators)
    return next((each.name for each in containers if "readinessProbe" in each.fields), "")


def _has(labels: Mapping[str, str], key: str, value: str | None) -> bool:
    return key in labels and value in (None, labels[key])


def _role_of_rule(rule: RoleRule, subject: Subject) -> model.Role | None:
    """The role that a rule gives; None if the label that it trusts is missing or does not name a role."""
    if rule.from_label is None:
        return None if rule.role is None else model.Role(rule.role)
    values = {labels[rule.from_label] for labels in _labels(subject) if rule.from_label in labels}
    return model.Role(values.pop()) if len(values) == 1 and values <= set(model.Role) else None


def _labels(subject: Subject) -> Iterator[Mapping[str, str]]:
    yield subject.labels
    yield from (pod_set.labels for pod_set in subject.pod_sets)


def _conditions_hold(rule: RoleRule, subject: Subject) -> bool:
    """Whether the conditions of a rule hold, apart from its namespaces."""
    if rule.kinds and rule.kinds.count(subject.kind) + rule.kinds.count(f"{subject.group}/{subject.kind}") == 0:
        return False
    for key, value in rule.labels.items():
        if not any(key in labels and selection.glob_fits(labels[key], value) for labels in _labels(subject)):
            return False
    containers = [
        each for pod_set in subject.pod_sets for each in pod_set.containers if each.type is model.ContainerType.APP
    ]
    if rule.images and not any(selection.image_fits(each.image, image) for each in containers for image in rule.images):
        return False
    return not rule.commands or any(
        selection.command_fits(program.words, command)
        for each in containers
        for program in read_programs(each.command)
        for command in rule.commands
    )


DEFAULT_ROLES: Final = Roles(models.Config.defaults())
"""Roles without usher.yaml."""


_PARTS: Final[Mapping[str, str]] = {
    "prefill": "prefill", "prefiller": "prefill", "decode": "decode", "decoder": "decode", "router": "router",
    "routing": "router", "gateway": "router", "epp": "router", "planner": "planner", "frontend": "frontend",
}  # fmt: skip
"""Work in serving a model, by the words for it.

Dynamo has types of these names (deploy/operator/internal/consts of ai-dynamo/dynamo); `epp` is an endpoint picker. In
other kinds people choose the names.
"""

_WORDS_OF_NAMES: Final = memo.pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST_NAME: Final = 253


def serving_part(template: Template) -> str:
    """The work of pods in serving a model, by their type or else their name; empty where these tell nothing or two."""
    for text in (template.serves_as, template.name):
        words = (word.lower() for word in _WORDS_OF_NAMES.findall(text[:_LONGEST_NAME]))
        found = {_PARTS[word] for word in words if word in _PARTS}
        if len(found) == 1:
            return found.pop()
    return ""
