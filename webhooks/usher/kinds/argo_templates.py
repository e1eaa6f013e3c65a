"""The templates that a workflow reaches from what it runs, through steps, tasks, hooks and references.

Sources: AR:workflow/templateresolution/context.go, AR:workflow/util/merge.go (JoinWorkflowSpec).

Source: AR:workflow/controller/operator.go (setGlobalParameters), AR:workflow/util/merge.go (JoinWorkflowSpec).

Sources: AR:workflow/controller/{steps,dag,operator,hooks,exit_handler}.go, AR:workflow/common/ancestry.go.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import orjson
from msgspec import Struct, field

from usher import memo, paths
from usher.kinds.reading import counts as reading_counts
from usher.kinds.reading import pod_templates as layers
from usher.kinds.reading.counts import NEVER, ONCE, Times, nested_times, sum_of_times, unite_reasons
from usher.kinds.reading.templates import NOWHERE, Place
from usher.kinds.reading.values import MAX_PODS, Reading, Reference


class Parameter(Struct, frozen=True, kw_only=True):
    """A known value, read once: any number of steps may refer to it."""

    text: str
    items: int | None
    """The length of the JSON list in the value; None for any other value."""


Parameters = Mapping[str, Parameter | None]
"""Parameters by name; None where the value comes from somewhere else."""

UNKNOWN_PARAMETERS: Final[Parameters] = {}

_REFERENCE: Final = memo.pattern(r"\{\{\s{0,9}workflow\.parameters\.([-\w]{1,253})\s{0,9}\}\}", re.ASCII)


def workflow_parameters(specs: Sequence[Place]) -> Parameters:
    """The parameters of a workflow; entries that cannot be read are left out.

    Args:
        specs: the WorkflowSpec, and below it that of the template it refers to as a whole.
    """
    found: dict[str, Parameter | None] = {}
    for name, entry in _parameter_entries(specs):
        value = entry.get("value")
        if name in found or (value is None and entry.get("valueFrom") is None):
            continue
        known = isinstance(value, str | int) and not isinstance(value, bool)
        found[name] = Parameter(text=str(value), items=items_of(str(value))) if known else None
    return found


def _parameter_entries(specs: Sequence[Place]) -> Iterator[tuple[str, Mapping[str, object]]]:
    for place in layers.field(layers.field(specs, "arguments"), "parameters"):
        for entry in place.value if isinstance(place.value, list) else ():
            if isinstance(entry, dict) and isinstance(name := entry.get("name"), str):
                yield name, entry


def parameter_named(text: str, parameters: Parameters) -> Parameter | None:
    """The parameter that is the whole text; None for other texts and for unknown parameters."""
    reference = _REFERENCE.fullmatch(text)
    return None if reference is None else parameters.get(reference[1])


def items_of(text: str) -> int | None:
    """The length of a JSON list; None for any other text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return len(value) if isinstance(value, list) else None


_EXIT: Final = "exit"

_WHEN: Final = "`when` decides whether a step runs"
_DEPENDS: Final = "whether a task runs depends on how others end"
_TARGET: Final = "the dag's target is known only when it runs"
_HOOK: Final = "a hook's expression decides whether it runs"
_PARAM: Final = "withParam takes a list that is known only when the workflow runs"
_SEQUENCE: Final = "withSequence takes numbers that are known only when the workflow runs"
_UNREADABLE: Final = "withSequence cannot be read"

_WHOLE_NUMBER: Final = memo.pattern(r"[+-]?[0-9]{1,9}", re.ASCII)
_TASK: Final = memo.pattern(r"[A-Za-z0-9][-A-Za-z0-9]*(?:\.[A-Za-z]+)?", re.ASCII)
_ENDS_BADLY: Final = memo.pattern(r"\.(?:Failed|Errored|Skipped|Omitted|AllFailed)|!", re.ASCII)


class Call(Struct, frozen=True, kw_only=True):
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


def calls_of_workflow(specs: Sequence[Place], reading: Reading) -> Iterator[Call]:
    """The templates that a workflow runs itself: its entrypoint, its exit handler and its hooks.

    Args:
        specs: the WorkflowSpec, and below it that of the template it refers to as a whole.
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


def calls_of_template(
    template: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters
) -> Iterator[Call]:
    """The calls of the steps or the tasks of a template, for one run of the template."""
    if template.get("steps") is not None:
        for index, group in enumerate(reading.sequence(template["steps"], path + "/steps")):
            if group is None:
                reading.unknown(f"{path}/steps/{index}", "expected a list, found null")
            for step_path, step in reading.items(group, f"{path}/steps/{index}"):
                yield from _calls_of_step(
                    step, step_path, _times_of_step(step, step_path, reading, parameters), reading
                )
    elif template.get("dag") is not None:
        yield from _calls_of_tasks(reading.mapping(template["dag"], path + "/dag"), path + "/dag", reading, parameters)


def _call(value: Mapping[str, paths.Json], path: str, name: str, times: Times) -> Call:
    return Call(
        name=name,
        path=path,
        times=times,
        inline=Place(value.get("inline"), path + "/inline"),
        reference=Place(value.get("templateRef"), path + "/templateRef"),
        template=Place(value.get("template"), path + "/template"),
    )


def _calls_of_step(step: Mapping[str, paths.Json], path: str, times: Times, reading: Reading) -> Iterator[Call]:
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


def _times_of_step(step: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters) -> Times:
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
        return _times_of_list(param, parameters)
    if step.get("withSequence") is None:
        return ONCE
    return _times_of_sequence(sequence, path + "/withSequence", reading, parameters)


def _exactly(number: int) -> Times:
    return Times(number, number)


def _times_of_list(param: str, parameters: Parameters) -> Times:
    known = parameter_named(param, parameters)
    items = known.items if known else None if is_parameter(param) else items_of(param)
    return Times(0, None, (_PARAM,)) if items is None else _exactly(items)


def _times_of_sequence(
    sequence: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters
) -> Times:
    """The length of a sequence. Both ends count, whichever is the larger one."""
    given = {name: sequence[name] for name in ("start", "end", "count") if sequence.get(name) is not None}
    for name, value in given.items():
        known = parameter_named(value, parameters) if isinstance(value, str) else None
        given[name] = known.text if known else value
    literal = {name: value for name, value in given.items() if not (isinstance(value, str) and is_parameter(value))}
    numbers = {name: _whole_number(value, f"{path}/{name}", reading) for name, value in literal.items()}
    if len(literal) < len(given):
        return Times(0, None, (_SEQUENCE,))
    start, end, count = numbers.get("start", 0), numbers.get("end"), numbers.get("count")
    if start is None or None in numbers.values():
        return Times(0, None, (_UNREADABLE,))
    if end is not None:
        return _exactly(abs(end - start) + 1)
    return _exactly(reading.count(count, path + "/count", default=0))


def _whole_number(value: object, path: str, reading: Reading) -> int | None:
    """A whole number, or a text of one; other values are recorded and give None."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_PODS:
        return value
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    reading.unknown(path, "expected a whole number, or a text of one")
    return None


def _calls_of_tasks(
    dag: Mapping[str, paths.Json], path: str, reading: Reading, parameters: Parameters
) -> Iterator[Call]:
    tasks = list(reading.items(dag.get("tasks"), path + "/tasks"))
    graph = _TaskGraph(tasks, reading)
    target = reading.text(dag.get("target"), path + "/target")
    wanted = None if not target or is_parameter(target) else graph.ancestors(target.split())
    for task_path, task in tasks:
        times = _times_of_step(task, task_path, reading, parameters)
        name = reading.text(task.get("name"), task_path + "/name")
        if wanted is not None and name not in wanted:
            continue
        if target and wanted is None:
            times = times.perhaps(_TARGET)
        if name in graph.uncertain:
            times = times.perhaps(_DEPENDS)
        yield from _calls_of_step(task, task_path, times, reading)


class _TaskGraph:
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


Runs = Sequence[tuple[int, Times]]
"""The numbers of the templates that a template runs, each with how often it runs them."""

_RECURSION: Final = ("a template runs itself again, and nothing bounds how often",)


def times_of_templates(starts: Runs, runs: Sequence[Runs], skipped: Sequence[str]) -> list[Times]:
    """How often each template runs.

    Args:
        starts: the templates that the workflow itself runs.
        runs: the templates that each template runs, for one run of it.
        skipped: why a template may not run although it is called; empty for most.
    """
    asked: list[list[Times]] = [[] for _ in runs]
    for number, times in starts:
        asked[number].append(times)
    result = [NEVER] * len(runs)
    for group in reversed(list(_recursive_groups(runs))):
        members = set(group)
        recursive = len(group) > 1 or any(number in members for number, _ in runs[group[0]])
        reached = recursive and any(times.high != 0 for number in group for times in asked[number])
        for number in group:
            times = sum_of_times(asked[number])
            if reached:
                times = Times(times.low, None, unite_reasons(times.reasons, _RECURSION))
            if skipped[number]:
                times = times.perhaps(skipped[number])
            result[number] = times
            for other, inner in runs[number]:
                if other not in members:
                    asked[other].append(nested_times(times, inner))
    return result


def _recursive_groups(runs: Sequence[Runs]) -> Iterator[list[int]]:
    """Groups of templates that run each other, after the groups that they run; most groups have one member.

    Tarjan's algorithm, without recursion: a chain of templates may be longer than Python's stack.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    for root in range(len(runs)):
        if root in order:
            continue
        work = [(root, iter(runs[root]))]
        order[root] = lowest[root] = len(order)
        open_.append(root)
        is_open.add(root)
        while work:
            number, others = work[-1]
            for other, _ in others:
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    open_.append(other)
                    is_open.add(other)
                    work.append((other, iter(runs[other])))
                    break
                if other in is_open:
                    lowest[number] = min(lowest[number], order[other])
            else:
                work.pop()
                if work:
                    caller = work[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[number])
                if lowest[number] == order[number]:
                    group = [open_.pop()]
                    while group[-1] != number:
                        group.append(open_.pop())
                    is_open.difference_update(group)
                    yield group


GROUP: Final = "argoproj.io"

_MEMOIZE: Final = "`memoize` may take the result of an earlier run"
_PARALLELISM: Final = "no more at one time than the `parallelism` of the template that runs them"
_RUN_TIME: Final = "which template it is, is known only when the workflow runs: its pods are not judged"

NO_CALLER: Final = Place(None, "")


class Holder(Struct, frozen=True, kw_only=True):
    """An object with templates, which refer to each other by name."""

    templates: Mapping[str, Place]
    is_own: bool = True
    """Whether the object is the workflow itself."""
    pod_metadata: tuple[Place, ...] = ()


class ReachedTemplate(Struct, kw_only=True):
    """A template that the workflow reaches."""

    name: str
    template: Place
    holder: Holder
    runs: Runs = ()
    skipped: str = ""
    callers: dict[str, Place] = field(default_factory=dict)
    """The templates that run it, by their paths."""

    @property
    def value(self) -> Mapping[str, paths.Json]:
        return self.template.value if isinstance(self.template.value, dict) else {}


def templates_by_name(lists: Iterable[Place], reading: Reading) -> dict[str, Place]:
    """Templates by name. Templates without a name, and all but the first of one name, are found by path."""
    found: dict[str, Place] = {}
    for place in lists:
        for path, template in reading.items(*place):
            name = reading.text(template.get("name"), path + "/name")
            found[path if not name or name in found else name] = Place(template, path)
    return found


def read_reference(place: Place, reading: Reading) -> Reference | None:
    """The object that a `workflowTemplateRef` or a `templateRef` names; None where the name is not known."""
    value, path = reading.mapping(*place), place.path
    name = reading.text(value.get("name"), path + "/name")
    cluster = reading.flag(value.get("clusterScope"), path + "/clusterScope")
    if is_parameter(name):
        reading.unknown(path + "/name", _RUN_TIME)
    if not name or is_parameter(name):
        return None
    kind, namespace = ("ClusterWorkflowTemplate", "") if cluster else ("WorkflowTemplate", reading.context.namespace)
    return Reference(group=GROUP, kind=kind, name=name, namespace=namespace)


def spec_of(wanted: Reference, path: str, reading: Reading) -> Place | None:
    """The spec of a referenced object, with paths below the path of the name that refers to it."""
    found = reading.look_up(wanted, path, consequence="the pods of its templates are not judged")
    if found is None:
        return None
    reading.record_reference(path, wanted)
    return Place(found.get("spec"), path + "/spec")


class Graph:
    """Finds templates, each of them once, however many steps run it."""

    def __init__(self, own: Holder, defaults: tuple[Place, ...], parameters: Parameters, reading: Reading) -> None:
        """Finds the templates of one workflow.

        Args:
            own: the templates of the workflow itself.
            defaults: the `templateDefaults` of the workflow.
            parameters: the known parameters of the workflow.
        """
        self.nodes: list[ReachedTemplate] = []
        self.own = own
        self._defaults = defaults
        self._parameters = parameters
        self._reading = reading
        self._numbers: dict[str, int] = {}
        self._holders: dict[Reference, Holder | None] = {}
        self._unread: deque[int] = deque()

    def start(self, calls: Iterable[Call]) -> Runs:
        """The runs that the workflow itself starts; every call is followed to its end."""
        runs = self._runs(calls, self.own, NO_CALLER)
        self._follow()
        return runs

    def include(self, template: Place, name: str) -> None:
        """Follows a template of the workflow itself, even if the workflow never runs it."""
        self._node(template, name, self.own)
        self._follow()

    def _follow(self) -> None:
        while self._unread:
            node = self.nodes[self._unread.popleft()]
            calls = calls_of_template(node.value, node.template.path, self._reading, self._parameters)
            node.runs = self._capped(self._runs(calls, node.holder, node.template), node)

    def _runs(self, calls: Iterable[Call], holder: Holder, caller: Place) -> Runs:
        times: dict[int, list[Times]] = {}
        for call in calls:
            number = self._resolved(call, holder)
            if number is not None:
                self.nodes[number].callers[caller.path] = caller
                times.setdefault(number, []).append(call.times)
        return [(number, reading_counts.sum_of_times(found)) for number, found in times.items()]

    def _capped(self, runs: Runs, node: ReachedTemplate) -> Runs:
        """The runs as far as the template's own `parallelism` allows; runs that these runs start are not counted."""
        place = layers.nearest(layers.field((node.template, *self._defaults), "parallelism"))
        if place.value is None or not runs:
            return runs
        limit = self._reading.count(place.value, place.path, default=MAX_PODS)
        capped = reading_counts.cap_times([times for _, times in runs], limit, _PARALLELISM)
        return [(number, times) for (number, _), times in zip(runs, capped, strict=True)]

    def _node(self, template: Place, name: str, holder: Holder) -> int:
        number = self._numbers.get(template.path)
        if number is None:
            number = self._numbers[template.path] = len(self.nodes)
            memoize = layers.nearest(layers.field((template, *self._defaults), "memoize"))
            skipped = _MEMOIZE if self._reading.mapping(*memoize) else ""
            self.nodes.append(ReachedTemplate(name=name, template=template, holder=holder, skipped=skipped))
            self._unread.append(number)
        return number

    def _resolved(self, call: Call, holder: Holder) -> int | None:
        """The number of the template that a call runs; None if it is unknown, or if Argo would refuse the call."""
        if call.inline.value is not None:
            template = self._reading.mapping(*call.inline)
            return self._node(Place(template, call.inline.path), call.name, holder) if template else None
        if call.reference.value is not None:
            return self._of_reference(call.reference)
        name = self._reading.text(*call.template)
        if is_parameter(name):
            self._reading.unknown(call.template.path, _RUN_TIME)
        found = holder.templates.get(name) if name else None
        return None if found is None else self._node(found, name, holder)

    def _of_reference(self, place: Place) -> int | None:
        wanted = read_reference(place, self._reading)
        name_path = place.path + "/template"
        name = self._reading.text(self._reading.mapping(*place).get("template"), name_path)
        if wanted is None or not name:
            return None
        if wanted not in self._holders:
            self._holders[wanted] = self._read_holder(wanted, place.path + "/name")
        holder = self._holders[wanted]
        if holder is None:
            return None
        if name not in holder.templates:
            missing = f"{wanted} has no template with this name; usher does not judge its pods"
            self._reading.unknown(name_path, _RUN_TIME if is_parameter(name) else missing)
            return None
        return self._node(holder.templates[name], name, holder)

    def _read_holder(self, wanted: Reference, path: str) -> Holder | None:
        """An object with templates, whose paths lead below the first reference to the object."""
        spec = spec_of(wanted, path, self._reading)
        if spec is None:
            return None
        self._reading.mapping(*spec)
        templates = templates_by_name(layers.field((spec,), "templates"), self._reading)
        return Holder(templates=templates, is_own=False, pod_metadata=layers.field((spec,), "podMetadata"))
