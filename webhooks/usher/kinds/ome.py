"""ome.io: services of OME, whose pods come from a runtime that the service names, or that OME chooses by the model.

Sources: pkg/controller/v1beta1/inferenceservice, pkg/runtimeselector and pkg/acceleratorclassselector of
sgl-project/ome at 17b77eda.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from usher import memo, model, paths
from usher.kinds.kind import Code
from usher.kinds.reading import pod_templates as layers
from usher.kinds.reading.counts import DEFAULT_SURGE, share_of_replicas
from usher.kinds.reading.pod_templates import listed_containers, template_times
from usher.kinds.reading.templates import LISTS, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

Object = Mapping[str, paths.Json]

_COMPONENTS: Final = ("engine", "decoder", "router")
_WORK: Final = {"engine": "prefill", "decoder": "decode", "router": "router"}
"""The work of components beside a decoder (pkg/apis/ome/v1beta1/inference_service.go)."""
_OME: Final = "ome.io"
_RUNTIMES: Final = ("ServingRuntime", "ClusterServingRuntime")
_NAMED: Final = "/spec/runtime"


def _ome_service(service: Object, reading: Reading) -> Iterator[Template]:
    """The pods of the components that a service has: each completes the same component of its runtime."""
    spec = reading.mapping(service.get("spec"), "/spec")
    metadata = reading.mapping(service.get("metadata"), "/metadata")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or reading.context.namespace
    name = reading.text(reading.mapping(spec.get("runtime"), _NAMED).get("name"), _NAMED + "/name")
    if name:
        runtime = _named_runtime(name, within, reading)
        why = f"runtime {name} is not known here: its pods are not judged. Give it in the files or by --facts"
    else:
        runtime, why = _chosen_runtime(service, spec, within, reading)
    if spec.get("predictor") and spec.get("engine") is None and spec.get("model") is None:
        reading.unknown("/spec/predictor", _OF_PREDICTOR)
    if runtime is None and name:
        reading.unknown(_NAMED + "/name", why)
    if runtime is None and spec.get("acceleratorSelector") is not None:
        reading.unknown("/spec/acceleratorSelector", "the runtime decides whether the AcceleratorClass counts")
    for part in _COMPONENTS:
        if spec.get(part) is None:
            continue
        path = f"/spec/{part}"
        own = reading.mapping(spec[part], path)
        if runtime is None and not {"runner", "leader", "containers"} & own.keys():
            reading.unknown(path, why)
            continue
        below = None if runtime is None else runtime.get(f"{part}Config")
        merged = own if below is None else layers.patched(below, Place(own, path), reading, typed=True)
        if runtime is not None and part != "router":
            chosen_class = _accelerator_class(own, spec, runtime, Place(None, path), reading)
            merged = _on_accelerators(merged, own, runtime, chosen_class)
            config = _accelerator_config(runtime, chosen_class, spec, Place(name, within), reading)
            merged = _with_config(merged, config)
        chosen = _NAMED + "/name" if name else "/spec/model/name"
        written = {} if runtime is None else dict.fromkeys(_of_runtime(merged, own, path), chosen)
        for each in _component(part, Place(merged, path), is_own=below is None, reading=reading):
            work = _WORK[part] if spec.get("decoder") is not None else each.serves_as
            yield replace(each, serves_as=work, written=written)


_OF_PREDICTOR: Final = (
    "OME turns the deprecated predictor into engine, model and runtime, and its pods are not judged: write those fields"
)
"""utils/migration_util.go of its controller."""


def _named_runtime(name: str, within: str, reading: Reading) -> Object | None:
    """The spec of a runtime of the namespace, or else of the cluster, whatever its `kind` (its fetcher.go)."""
    for kind, namespace in zip(_RUNTIMES, (within, ""), strict=True):
        found = reading.context.find(Reference(group=_OME, kind=kind, name=name, namespace=namespace))
        if found is not None:
            return reading.mapping(found.get("spec"), _NAMED + "/name")
    return None


_FILLED: Final = ("modelArchitecture", "modelFramework", "modelFormat", "modelParameterSize")
"""Fields of a model that OME's agent reads from the model where they are missing (pkg/modelagent/config_parser.go)."""
_ALSO_FILLED: Final = ("quantization", "diffusionPipeline")
"""The same: fields that many models lack. Where a model says its architecture, its author said these as well."""
_KEPT_AS_IT_IS: Final = "ome.oracle.com/skip-config-parsing"


def _chosen_runtime(service: Object, spec: Object, within: str, reading: Reading) -> tuple[Object | None, str]:
    """The spec of the runtime that OME chooses by the model, or why it is not known (pkg/runtimeselector).

    Runtimes of the namespace come before those of the cluster; among them the highest score, the nearest range of sizes
    and the first name decide (scorer.go). `protocolVersions` and `kind` do not count.
    """
    help_ = "Name a runtime, or give the model and the runtimes in the files or by --facts"
    name, about, missing = _model_of(spec, within, reading)
    if about is None:
        which = f"model {name} is not known here" if name else "the service names no model"
        return None, f"OME chooses a runtime by the model, and {which}: its pods are not judged. {help_}"
    if about.get("disabled") is True:
        return None, f"OME makes no pods of it, because model {name} is disabled"
    wanted = _wanted_classes(service, spec)
    candidates: list[tuple[tuple[object, ...], str, Object]] = []
    count = 0
    for kind, space in zip(_RUNTIMES, (within, None), strict=True):
        listed = reading.context.objects.listed(_OME, kind, space)
        count += len(listed)
        for title, value in listed.items():
            runtime = paths.mapping(value.get("spec"))
            score = _score(runtime, about, wanted, missing)
            if score > 0:
                rank = (kind != _RUNTIMES[0], -score, _distance(runtime, about) or 0.0, title)
                candidates.append((rank, title, runtime))
    if not candidates:
        which = f"no known runtime supports model {name}" if count else "no runtime is known here"
        return None, f"OME chooses a runtime by the model, and {which}: its pods are not judged. {help_}"
    if missing and len(candidates) > 1:
        names = sorted(title for _, title, _ in candidates)
        shown = ", ".join(names[:4]) + (f" or {len(names) - 4} others" if names[4:] else "")
        fields = ", ".join(each for each in _FILLED if each in missing)
        reason = f"OME reads {fields} of model {name} from its files, and may choose the runtime {shown}"
        return None, f"{reason}: its pods are not judged. Name a runtime, or write these fields into the model"
    return min(candidates, key=lambda each: each[0])[2], ""


def _model_of(spec: Object, within: str, reading: Reading) -> tuple[str, Object | None, frozenset[str]]:
    """The name of the model of a service, its spec if it is known, and its fields that may still have any value."""
    name = reading.text(reading.mapping(spec.get("model"), "/spec/model").get("name"), "/spec/model/name")
    own = Reference(group=_OME, kind="BaseModel", name=name, namespace=within)
    found = reading.context.find(own)
    if found is None:
        found = reading.context.find(replace(own, kind="ClusterBaseModel", namespace=""))
    if not name or found is None:
        return name, None, frozenset()
    about = paths.mapping(found.get("spec"))
    if paths.mapping(paths.metadata(found).get("annotations")).get(_KEPT_AS_IT_IS) == "true":
        return name, about, frozenset()
    fields = (*_FILLED, *(() if about.get("modelArchitecture") else _ALSO_FILLED))
    return name, about, frozenset(each for each in fields if not about.get(each))


def _wanted_classes(service: Object, spec: Object) -> frozenset[str]:
    """The AcceleratorClasses that a runtime must support (matcher.go compareAcceleratorClass)."""
    holders = [
        paths.mapping(spec.get("acceleratorSelector")),
        *(paths.mapping(paths.mapping(spec.get(part)).get("acceleratorOverride")) for part in ("engine", "decoder")),
    ]
    annotations = paths.mapping(paths.metadata(dict(service)).get("annotations"))
    named = [annotations.get("ome.io/accelerator-class"), *(each.get("acceleratorClass") for each in holders)]
    return frozenset(each for each in named if isinstance(each, str))


def _classes(runtime: Object) -> list[str]:
    required = paths.mapping(runtime.get("acceleratorRequirements")).get("acceleratorClasses")
    return [each for each in paths.elements(required) if isinstance(each, str)]


def _score(runtime: Object, about: Object, wanted: frozenset[str], missing: frozenset[str]) -> int:
    """How well a runtime supports a model; 0 where it does not, or where OME does not choose it by itself.

    Args:
        wanted: the AcceleratorClasses that it must support.
        missing: the fields of the model that may still have any value.
    """
    formats = [paths.mapping(each) for each in paths.elements(runtime.get("supportedModelFormats"))]
    if (
        runtime.get("disabled") is True
        or (wanted and not wanted <= {*_classes(runtime)})
        or not any(each.get("autoSelect") is True for each in formats)
        or not any(_supports(each, about, missing) for each in formats)
        or _distance(runtime, about) is None
    ):
        return 0
    return max(
        0 if each.get("autoSelect") is False else _format_score(each, about, missing) * _priority(each)
        for each in formats
    )


def _supports(supported: Object, about: Object, missing: frozenset[str]) -> bool:
    """matcher.go compareSupportedModelFormats: every field is on both sides or on neither, and has the same value."""
    for field in ("modelArchitecture", "quantization"):
        if field not in missing and supported.get(field) != about.get(field):
            return False
    pipeline = paths.mapping(supported.get("diffusionPipeline"))
    if pipeline and "diffusionPipeline" not in missing and not _has_pipeline(pipeline, about):
        return False
    if supported.get("modelFormat") is None:
        return False
    return all(
        field in missing or _same_version(supported.get(field), about.get(field), strictly=True)
        for field in ("modelFormat", "modelFramework")
    )


def _has_pipeline(wanted: Object, about: Object) -> bool:
    """matcher.go compareDiffusionPipeline."""
    given = paths.mapping(about.get("diffusionPipeline"))
    mine, parts = ({**each, **paths.mapping(each.get("additionalComponents"))} for each in (given, wanted))
    return wanted.get("className") in (None, given.get("className")) and all(
        isinstance(own := mine.get(key), dict) and all(each.get(by) in (None, "", own.get(by)) for by in _PART)
        for key, each in parts.items()
        if isinstance(each, dict) and key != "additionalComponents"
    )


_PART: Final = ("library", "type")


def _format_score(supported: Object, about: Object, missing: frozenset[str]) -> int:
    """scorer.go CalculateFormatScore: the weights of equal fields; 0 if one differs."""
    score = 0
    for field, usual in (("modelFormat", 10), ("modelFramework", 5)):
        wanted, given = supported.get(field), about.get(field)
        if wanted is not None and (given is not None or field in missing):
            if field not in missing and not _same_version(wanted, given, strictly=False):
                return 0
            weight = paths.mapping(wanted).get("weight")
            score += weight if isinstance(weight, int) and weight else usual
        elif field == "modelFramework" and (wanted is not None or given is not None):
            return 0
    return score


def _priority(supported: Object) -> int:
    priority = supported.get("priority")
    return priority if isinstance(priority, int) else 1


def _same_version(supported: paths.Json, given: paths.Json, *, strictly: bool) -> bool:
    """Whether two formats have the same name and fitting versions; `strictly`: both have a version or neither.

    matcher.go compareModelFormatVersions.
    """
    if supported is None or given is None:
        return supported is given
    mine, theirs = paths.mapping(given), paths.mapping(supported)
    if mine.get("name") != theirs.get("name"):
        return False
    versions = mine.get("version"), theirs.get("version")
    if None in versions:
        return versions == (None, None) or not strictly
    own, other = (_parsed_version(paths.text(each)) for each in versions)
    if own is None or other is None:
        return False
    operator, (mine_by, my_form), (theirs_by, their_form) = theirs.get("operator"), own, other
    if operator not in ("GreaterThan", "GreaterThanOrEqual") or any((*mine_by[3:], *theirs_by[3:])):
        return mine_by == theirs_by
    return my_form == their_form and (theirs_by > mine_by or (operator != "GreaterThan" and theirs_by == mine_by))


_VERSION: Final = memo.pattern(
    r"(v?)(0|[1-9][0-9]{0,18})(?:\.(0|[1-9][0-9]{0,18})(?:\.(0|[1-9][0-9]{0,18})"
    r"(?:\.([^-+]+))?(?:-([^+]+))?(?:\+(.+))?)?)?",
    re.ASCII | re.DOTALL,
)


def _parsed_version(text: str) -> tuple[tuple[object, ...], tuple[str, int]] | None:
    """The parts that order a version, and its form: the letter before it and how many numbers it has (pkg/modelver)."""
    found = _VERSION.fullmatch(text[:_LONGEST])
    if found is None:
        return None
    prefix, major, minor, patch, *more = found.groups()
    extra = [tuple(each.split(".")) if each else () for each in more]
    if any("" in each for each in extra):
        return None
    dev, preview, build = extra
    numbers = (int(major), int(minor or 0), int(patch or 0))
    return (*numbers, preview, build, dev), (prefix, 1 + (minor is not None) + (patch is not None))


_LONGEST: Final = 100
_SIZE: Final = memo.pattern(r"([0-9]{0,15}(?:\.[0-9]{0,15})?)([TBM]?)", re.ASCII)
_UNITS: Final = {"T": 10**12, "B": 10**9, "M": 10**6, "": 1}


def _size(value: paths.Json) -> float:
    """The parameters of a model, for example `70B`; 0 for another text (matcher.go parseModelSize)."""
    found = _SIZE.fullmatch(paths.text(value)[:_LONGEST])
    return float(found[1]) * _UNITS[found[2]] if found and found[1].strip(".") else 0.0


def _distance(runtime: Object, about: Object) -> float | None:
    """How far a model is from both ends of the sizes of a runtime; None outside them, 0 where one has no size."""
    given, wanted = about.get("modelParameterSize"), runtime.get("modelSizeRange")
    if given is None or not isinstance(wanted, dict):
        return 0.0
    size, least, most = (_size(each) for each in (given, wanted.get("min"), wanted.get("max")))
    return most - least if least <= size <= most else None


class _Chosen(NamedTuple):
    """An AcceleratorClass."""

    name: str
    spec: Object


def _on_accelerators(merged: Object, own: Object, runtime: Object, chosen_class: _Chosen | None) -> Object:
    """A component with what its AcceleratorClass, and the pod fields of its runtime, add (components/base.go).

    Resources are added only where the service has no own ones; the class wins over the runtime.
    """
    chosen = {} if chosen_class is None else chosen_class.spec
    resources = paths.mapping(paths.mapping(own.get("runner")).get("resources"))
    asked = {key for key in ("limits", "requests") if resources.get(key) is not None} or resources.get("claims")
    discovery = paths.mapping(chosen.get("discovery"))
    selected: dict[str, paths.Json] = {}
    for each in (runtime.get("nodeSelector"), discovery.get("nodeSelector"), own.get("nodeSelector")):
        selected |= paths.mapping(each)
    added = {
        key: amount
        for each in map(paths.mapping, paths.elements(chosen.get("resources")))
        if isinstance(key := each.get("name"), str) and isinstance(amount := each.get("quantity"), str | int)
    }
    of_runtime = {
        paths.text(paths.mapping(each).get("name")): paths.mapping(paths.mapping(each).get("resources"))
        for each in paths.elements(runtime.get("containers"))
    }

    def completed(holder: Object) -> dict[str, paths.Json]:
        found = dict(holder)
        if selected and isinstance(found.get("nodeSelector", {}), dict | None):
            found["nodeSelector"] = {**paths.mapping(found.get("nodeSelector")), **selected}
        if own.get("affinity") is None and discovery.get("affinity") is not None:
            found["affinity"] = discovery["affinity"]
        runner = found.get("runner")
        if isinstance(runner, dict) and not asked and (added or of_runtime):
            below = of_runtime.get(paths.text(runner.get("name")), {})
            held = paths.mapping(runner.get("resources"))
            given = {
                key: {**paths.mapping(below.get(key)), **paths.mapping(held.get(key)), **added}
                for key in ("limits", "requests")
                if isinstance(held.get(key, {}), dict | None)
            }
            found["runner"] = {**runner, "resources": {**held, **given}}
        return found

    found = completed(merged)
    for key in ("leader", "worker"):
        if isinstance(found.get(key), dict):
            found[key] = completed(paths.mapping(found[key]))
    return found


def _accelerator_class(own: Object, spec: Object, runtime: Object, part: Place, reading: Reading) -> _Chosen | None:
    """The AcceleratorClass of a component; None without one (pkg/acceleratorclassselector).

    The name of the component wins over that of the service. By a policy OME compares classes; usher knows only
    the first available one, and a single one.
    """
    supported = _classes(runtime)
    selectors = (
        (own.get("acceleratorOverride"), part.path + "/acceleratorOverride"),
        (spec.get("acceleratorSelector"), "/spec/acceleratorSelector"),
    )
    if not supported or all(each is None for each, _ in selectors):
        return None
    for key in ("acceleratorClass", "policy"):
        for value, path in selectors:
            text = reading.text(reading.mapping(value, path).get(key), f"{path}/{key}")
            if not text:
                continue
            names = [text] if key == "acceleratorClass" else supported
            limits = paths.mapping(spec.get("acceleratorSelector")).get("constraints")
            if key == "policy" and (limits or (text != "FirstAvailable" and len(names) > 1)):
                reading.unknown(f"{path}/{key}", f"OME compares the AcceleratorClasses {', '.join(sorted(names))}")
                return None
            references = [Reference(group=_OME, kind="AcceleratorClass", name=each) for each in names]
            found = [reading.context.find(each) for each in references]
            for reference, each in zip(references, found, strict=True):
                if each is None:
                    reading.unknown(
                        f"{path}/{key}", f"{reference} is not known here. Give it in the files or by --facts"
                    )
                    return None
            return _Chosen(names[0], paths.mapping(paths.mapping(found[0]).get("spec")))
    return None


def _accelerator_config(
    runtime: Object, chosen: _Chosen | None, spec: Object, named: Place, reading: Reading
) -> Object:
    """The `acceleratorConfig` of the format by which a runtime serves the model, for an AcceleratorClass.

    It is the format with the highest score (pkg/runtimeselector/selector.go GetSupportedModelFormat).

    Args:
        named: the name of the runtime, if the service has it, and the namespace in place of the path.
    """
    name = "" if chosen is None else chosen.name
    formats = [
        (each, paths.mapping(paths.mapping(each.get("acceleratorConfig")).get(name)))
        for each in map(paths.mapping, paths.elements(runtime.get("supportedModelFormats")))
        if named.value or each.get("autoSelect") is True
    ]
    if not any(config for _, config in formats):
        return {}
    title, about, missing = _model_of(spec, named.path, reading)
    if about is not None:
        scored = [(_format_score(each, about, missing), config) for each, config in formats]
        fitting = [(score, config) for score, config in scored if score > 0]
        if not missing or all(config == fitting[0][1] for _, config in fitting):
            return max(fitting, key=lambda each: each[0])[1] if fitting else {}
    reason = f"OME adds arguments and variables for AcceleratorClass {name} by the format of the model"
    which = "says not all of its fields" if about is not None else "is not known here" if title else ""
    known = f"model {title} {which}" if which else "the service names no model"
    reading.unknown("/spec/model/name", f"{reason}, and {known}. Give the whole model in the files or by --facts")
    return {}


_SIZES: Final = {
    "tensorParallelSize": ("--tp-size", "--tp", "--tensor-parallel-size"),
    "pipelineParallelSize": ("--pp-size", "--pp", "--pipeline-parallel-size"),
}


def _with_config(component: Object, config: Object) -> Object:
    """A component with the variables and arguments of an `acceleratorConfig` in its runners (components/base.go)."""
    if not config:
        return component
    found = dict(component)
    for key in ("leader", "worker"):
        if isinstance(found.get(key), dict):
            found[key] = dict(_with_config(paths.mapping(found[key]), config))
    if isinstance(runner := found.get("runner"), dict):
        found["runner"] = {**runner, **_environment(runner, config), **arguments(runner, config)}
    return found


def _environment(runner: Object, config: Object) -> paths.Object:
    variables = paths.mapping(config.get("environmentOverride"))
    entries = runner.get("env") or []
    if not variables or not isinstance(entries, list):
        return {}
    found: list[paths.Json] = [
        {**each, "value": variables[name]}
        if isinstance(each, dict) and isinstance(name := each.get("name"), str) and name in variables
        else each
        for each in entries
    ]
    there = {paths.mapping(each).get("name") for each in entries}
    return {
        "env": [*found, *({"name": name, "value": value} for name, value in variables.items() if name not in there)]
    }


def arguments(runner: Object, config: Object) -> paths.Object:
    """The arguments and the command, with what replaces or follows them; empty where a value has a wrong type."""
    args, command, over = (
        [each for each in paths.elements(holder.get(key)) if isinstance(each, str)]
        for holder, key in ((runner, "args"), (runner, "command"), (config, "runtimeArgsOverride"))
    )
    if [len(args), len(command)] != [len(paths.elements(runner.get(key))) for key in ("args", "command")]:
        return {}
    args = _merged_arguments(args, over)
    sizes = paths.mapping(config.get("tensorParallelismOverride"))
    for key, options in _SIZES.items():
        size = sizes.get(key)
        if isinstance(size, int) and size > 0:
            any(_is_resized(args, each, size) for each in options) or any(
                _is_resized(command, each, size, lines=False) for each in options
            )
    return {key: [*value] for key, value in (("args", args), ("command", command)) if value}


def _merged_arguments(args: list[str], over: list[str]) -> list[str]:
    """utils/merging.go MergeArgs: an option of the override takes the place of the same option; others follow."""
    if not args or not over:
        return [*(args or over)]
    groups: dict[str, list[str]] = {}
    for each in (_lines(args), _lines(over)):
        index = 0
        while index < len(each):
            word = each[index]
            key = word if not word.startswith("-") else word.partition("=")[0] if "=" in word else word.split()[0]
            follows = [] if "=" in word else each[index + 1 : index + 2]
            groups[key] = [word, *(text for text in follows if not text.startswith("-"))]
            index += len(groups[key])
    merged = [text for group in groups.values() for text in group]
    return [" \\\n".join(merged)] if _has_lines(args[0]) else merged


def _has_lines(text: str) -> bool:
    return "\n" in text or "\\" in text


def _lines(args: list[str]) -> list[str]:
    """Single arguments: a text with several lines has one on each."""
    found = (
        line.strip().rstrip("\\").strip() if _has_lines(text) else line.strip()
        for text in args
        for line in (text.split("\n") if _has_lines(text) else [text])
    )
    return [each for each in found if each]


def _is_resized(args: list[str], option: str, size: int, *, lines: bool = True) -> bool:
    """Whether the option was among the arguments; it has another value then (OverrideArgParam)."""
    if lines and args and _has_lines(args[0]):
        args[0], number = re.subn(rf"{option}(?:=|\s+)\d+", f"{option}={size}", args[0], flags=re.ASCII)
        return number > 0
    for index, text in enumerate(args):
        if text == option and index + 1 < len(args):
            args[index + 1] = str(size)
            return True
        if text.startswith(f"{option}="):
            args[index] = f"{option}={size}"
            return True
    return False


def _of_runtime(merged: Object, own: Object, path: str) -> Iterator[str]:
    """The paths of what only the runtime has, outermost first."""
    for key, value in merged.items():
        here, mine = paths.join(path, key), own.get(key)
        if key not in own:
            yield here
        elif isinstance(value, dict) and isinstance(mine, dict):
            yield from _of_runtime(value, mine, here)
        elif isinstance(value, list) and isinstance(mine, list):
            yield from (f"{here}/{index}" for index in range(len(mine), len(value)))


def _ome_runtime(runtime: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(runtime.get("spec"), "/spec")
    for name in _COMPONENTS:
        path = f"/spec/{name}Config"
        if spec.get(name + "Config") is not None:
            for each in _component(name, Place(spec[name + "Config"], path), is_own=True, reading=reading):
                yield replace(each, serves_as=_WORK[name] if spec.get("decoderConfig") is not None else each.serves_as)


def _component(name: str, component: Place, *, is_own: bool, reading: Reading) -> Iterator[Template]:
    """The pods of one component: a Deployment, or a LeaderWorkerSet with a leader or workers (utils/deployment.go)."""
    value = reading.mapping(*component)
    least = reading.count(value.get("minReplicas"), component.path + "/minReplicas", default=1)
    if value.get("leader") is None and value.get("worker") is None:
        most = max(reading.count(value.get("maxReplicas"), component.path + "/maxReplicas", default=0), least)
        surge = share_of_replicas(most, DEFAULT_SURGE, component.path, reading)
        reason = f"{surge} more during a rollout" if surge else ""
        grown = most if most > least else 0
        count = model.Count(minimum=least, maximum=most + surge, reason=reason, grown=grown)
        yield _ome_pod(component, name, count, is_own=is_own, reading=reading)
        return
    groups = model.Count(minimum=least, maximum=least + 1, reason="1 more group during a rollout")
    workers = reading.mapping(value.get("worker"), component.path + "/worker")
    size = reading.count(workers.get("size"), component.path + "/worker/size", default=0)
    for part, number in (("leader", 1), ("worker", size)):
        if value.get(part) is None or not number:
            continue
        each = Place(value[part], f"{component.path}/{part}")
        count = model.Count(minimum=number, maximum=number)
        found = _ome_pod(each, f"{name}-{part}", count, is_own=is_own, reading=reading)
        unit = model.Unit(name, size + 1)
        yield replace(template_times(found, groups), waits=size > 0, groups=max(least, 1), unit=unit)


def _ome_pod(holder: Place, name: str, count: model.Count, *, is_own: bool, reading: Reading) -> Template:
    value = reading.mapping(*holder)
    lists = {each: Place(value.get(each), f"{holder.path}/{each}") for each, _ in LISTS}
    containers = list(listed_containers(lists, reading))
    if value.get("runner") is not None:
        runner = reading.mapping(value["runner"], holder.path + "/runner")
        containers.append(ContainerPlace(value=runner, path=holder.path + "/runner"))
    return Template(
        name=name,
        path=holder.path,
        spec=holder,
        metadata=holder,
        count=count,
        traits=Traits(changeable=is_own, operator_environment=frozenset({"MODEL_PATH", "PARALLELISM_SIZE", "LWS_*"})),
        containers=tuple(containers),
    )


def _benchmark(benchmark: Object, reading: Reading) -> Iterator[Template]:
    """The one pod that measures a service, with what `podOverride` changes (pkg/controller/v1beta1/benchmark)."""
    path = "/spec/podOverride"
    override = reading.mapping(reading.mapping(benchmark.get("spec"), "/spec").get("podOverride"), path)
    container = ContainerPlace(value=override, path=path, name="benchmark")
    yield Template(
        name="", path=path, spec=Place(override, path), traits=Traits(changeable=False), containers=(container,)
    )


CODE: Final[Mapping[str, Code]] = {
    "InferenceService.ome.io": {"templates": _ome_service},
    "ServingRuntime.ome.io": {"templates": _ome_runtime},
    "ClusterServingRuntime.ome.io": {"templates": _ome_runtime},
    "BenchmarkJob.ome.io": {"templates": _benchmark},
}
