"""Which templates the steps and tasks of an Argo template run, and how often.

Sources: AR:workflow/controller/{steps,dag,operator,hooks,exit_handler}.go, AR:workflow/common/ancestry.go.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.kinds.argo.parameters import Parameters, items_of, named
from usher.reading import layers
from usher.reading.counts import ONCE, Times
from usher.reading.templates import NOWHERE, Place
from usher.reading.values import MAX_PODS, Reading

_EXIT: Final = "exit"

_WHEN: Final = "`when` decides whether a step runs"
_DEPENDS: Final = "whether a task runs depends on how others end"
_TARGET: Final = "the dag's target is known only when it runs"
_HOOK: Final = "a hook's expression decides whether it runs"
_PARAM: Final = "withParam takes a list that is known only when the workflow runs"
_SEQUENCE: Final = "withSequence takes numbers that are known only when the workflow runs"
_UNREADABLE: Final = "withSequence cannot be read"

_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_TASK: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9]*(?:\.[A-Za-z]+)?", re.ASCII)
_ENDS_BADLY: Final = re.compile(r"\.(?:Failed|Errored|Skipped|Omitted|AllFailed)|!", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A step, a task, a hook or an entry of a workflow that runs a template.

    The first of these fields that is set names it.
    """

    name: str
    path: str
    times: Times
    inline: Place = NOWHERE
    reference: Place = NOWHERE
    template: Place = NOWHERE
    """Path and value of the name of a template in the same list."""


def is_parameter(text: str) -> bool:
    """Whether a text is only known when the workflow runs."""
    return "{{" in text


def of_workflow(specs: Sequence[Place], reading: Reading) -> Iterator[Call]:
    """The templates that a workflow runs itself: its entrypoint, its exit handler and its hooks.

    Args:
        specs: the WorkflowSpec, and below it that of the template it refers to as a whole.
        reading: records what cannot be read.
    """
    entrypoint = layers.nearest(layers.field(specs, "entrypoint"))
    if reading.text(*entrypoint):
        yield Call(name="", path=entrypoint.path, template=entrypoint, times=ONCE)
    on_exit = layers.nearest(layers.field(specs, "onExit"))
    exits = bool(reading.text(*on_exit))
    if exits:
        yield Call(name="onExit", path=on_exit.path, template=on_exit, times=ONCE)
    seen = set()
    for hooks in layers.field(specs, "hooks"):
        for path, name, hook in _hooks(hooks, reading):
            expression = reading.text(hook.get("expression"), path + "/expression")
            if name not in seen and (expression or name == _EXIT) and not (name == _EXIT and exits):
                yield _call(hook, path, name, ONCE if name == _EXIT else ONCE.perhaps(_HOOK))
            seen.add(name)


def of_template(
    template: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters
) -> Iterator[Call]:
    """The calls of the steps or the tasks of a template, for one run of the template."""
    if template.get("steps") is not None:
        for index, group in enumerate(reading.sequence(template["steps"], path + "/steps")):
            if group is None:
                reading.unknown(f"{path}/steps/{index}", "expected a list, found null")
            for step_path, step in reading.items(group, f"{path}/steps/{index}"):
                yield from _calls(step, step_path, _times(step, step_path, reading, parameters), reading)
    elif template.get("dag") is not None:
        yield from _tasks(reading.mapping(template["dag"], path + "/dag"), path + "/dag", reading, parameters)


def _call(value: Mapping[str, paths.Json], path: str, name: str, times: Times) -> Call:
    return Call(
        name=name,
        path=path,
        times=times,
        inline=Place(value.get("inline"), path + "/inline"),
        reference=Place(value.get("templateRef"), path + "/templateRef"),
        template=Place(value.get("template"), path + "/template"),
    )


def _calls(step: Mapping[str, paths.Json], path: str, times: Times, reading: Reading) -> Iterator[Call]:
    """A step or a task, what runs at its end, and its hooks."""
    yield _call(step, path, reading.text(step.get("name"), path + "/name"), times)
    on_exit = Place(step.get("onExit"), path + "/onExit")
    if reading.text(*on_exit):
        yield Call(name="onExit", path=on_exit.path, template=on_exit, times=times)
    for hook_path, name, hook in _hooks(Place(step.get("hooks"), path + "/hooks"), reading):
        expression = reading.text(hook.get("expression"), hook_path + "/expression")
        if name == _EXIT and not on_exit.value:
            yield _call(hook, hook_path, name, times.perhaps(_HOOK) if expression else times)
        elif name != _EXIT and expression:
            yield _call(hook, hook_path, name, times.perhaps(_HOOK))


def _hooks(place: Place, reading: Reading) -> Iterator[tuple[str, str, Mapping[str, paths.Json]]]:
    """Hooks with their paths and names; null counts as an empty hook."""
    for name, hook in reading.mapping(*place).items():
        path = paths.join(place.path, name)
        yield path, name, reading.mapping(hook, path)


def _times(step: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters) -> Times:
    times = _fan_out(step, path, reading, parameters)
    return times.perhaps(_WHEN) if reading.text(step.get("when"), path + "/when") else times


def _fan_out(step: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters) -> Times:
    """How often a step runs. An empty list of items counts as missing: the step runs once.

    Of several lists the first counts.
    """
    items = reading.sequence(step.get("withItems"), path + "/withItems")
    param = reading.text(step.get("withParam"), path + "/withParam")
    sequence = reading.mapping(step.get("withSequence"), path + "/withSequence")
    if items:
        return _exactly(len(items))
    if param:
        return _of_list(param, parameters)
    if step.get("withSequence") is None:
        return ONCE
    return _sequence(sequence, path + "/withSequence", reading, parameters)


def _exactly(number: int) -> Times:
    return Times(number, number)


def _of_list(param: str, parameters: Parameters) -> Times:
    known = named(param, parameters)
    items = known.items if known else None if is_parameter(param) else items_of(param)
    return Times(0, None, (_PARAM,)) if items is None else _exactly(items)


def _sequence(sequence: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters) -> Times:
    """The length of a sequence. Both ends count, whichever is the larger one."""
    given = {name: sequence[name] for name in ("start", "end", "count") if sequence.get(name) is not None}
    for name, value in given.items():
        known = named(value, parameters) if isinstance(value, str) else None
        given[name] = known.text if known else value
    literal = {name: value for name, value in given.items() if not (isinstance(value, str) and is_parameter(value))}
    numbers = {name: _whole(value, f"{path}/{name}", reading) for name, value in literal.items()}
    if len(literal) < len(given):
        return Times(0, None, (_SEQUENCE,))
    start, end, count = numbers.get("start", 0), numbers.get("end"), numbers.get("count")
    if start is None or None in numbers.values():
        return Times(0, None, (_UNREADABLE,))
    if end is not None:
        return _exactly(abs(end - start) + 1)
    return _exactly(reading.count(count, path + "/count", default=0))


def _whole(value: object, path: str, reading: Reading) -> int | None:
    """A whole number, or a text of one; other values are recorded and give None."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_PODS:
        return value
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    reading.unknown(path, "expected a whole number, or a text of one")
    return None


def _tasks(dag: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters) -> Iterator[Call]:
    tasks = list(reading.items(dag.get("tasks"), path + "/tasks"))
    graph = _Graph(tasks, reading)
    target = reading.text(dag.get("target"), path + "/target")
    wanted = None if not target or is_parameter(target) else graph.ancestors(target.split())
    for task_path, task in tasks:
        times = _times(task, task_path, reading, parameters)
        name = reading.text(task.get("name"), task_path + "/name")
        if wanted is not None and name not in wanted:
            continue
        if target and wanted is None:
            times = times.perhaps(_TARGET)
        if name in graph.uncertain:
            times = times.perhaps(_DEPENDS)
        yield from _calls(task, task_path, times, reading)


class _Graph:
    """Which tasks of a dag wait for which others."""

    def __init__(self, tasks: Iterable[tuple[str, Mapping[str, paths.Json]]], reading: Reading) -> None:
        self._before: dict[str, list[str]] = {}
        after: dict[str, list[str]] = {}
        uncertain = []
        for path, task in tasks:
            name = reading.text(task.get("name"), path + "/name")
            depends = reading.text(task.get("depends"), path + "/depends")
            dependencies = reading.texts(task.get("dependencies"), path + "/dependencies")
            before = [each.partition(".")[0] for each in _TASK.findall(depends)] if depends else list(dependencies)
            self._before[name] = before
            for each in before:
                after.setdefault(each, []).append(name)
            if _ENDS_BADLY.search(depends):
                uncertain.append(name)
        self.uncertain = _reached(uncertain, after)
        """Tasks that run only if others do not succeed, and the tasks that wait for them."""

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """These tasks and all that they wait for."""
        return _reached(names, self._before)


def _reached(names: Iterable[str], following: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += following.get(name, ())
    return found
