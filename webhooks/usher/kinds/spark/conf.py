"""The pod settings in the properties of a `sparkConf`, whose values are all texts."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from usher import model, paths
from usher.accelerators.names import GKE_DEVICES, GPU_FRACTION, GPU_MEMORY
from usher.reading.environment import READ_VARIABLES
from usher.reading.templates import Place
from usher.reading.values import Reading

DRIVER: Final = "driver"
EXECUTOR: Final = "executor"

_WHOLE: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_ENVIRONMENT: Final[Mapping[str, str]] = {DRIVER: "spark.kubernetes.driverEnv.", EXECUTOR: "spark.executorEnv."}
_ACCELERATOR_ANNOTATIONS: Final = frozenset({GPU_FRACTION, GPU_MEMORY})


class Conf(NamedTuple):
    values: Mapping[str, str]
    path: str

    def place(self, key: str) -> Place:
        return Place(self.values.get(key), paths.join(self.path, key))

    def below(self, prefix: str) -> Iterator[tuple[str, str, str]]:
        """Rest of the key, value and path of every property whose key has the prefix."""
        for key, value in self.values.items():
            if key.startswith(prefix):
                yield key.removeprefix(prefix), value, paths.join(self.path, key)


def read(value: object, path: str, reading: Reading) -> Conf:
    return Conf(values=reading.strings(value, path), path=path)


def whole(place: Place, reading: Reading) -> int | None:
    """A whole number; None if it is missing or cannot be read."""
    text = place.value
    if not isinstance(text, str) or not text:
        return None
    if not _WHOLE.fullmatch(text.strip()):
        reading.unknown(place.path, "expected a whole number")
        return None
    return int(text)


def pods(place: Place, reading: Reading) -> int | None:
    """A number of pods; None where it is missing, unreadable or larger than any cluster."""
    number = whole(place, reading)
    found = -1 if number is None else reading.count(number, place.path, default=-1)
    return found if found >= 0 else None


def flag(place: Place, reading: Reading) -> bool:
    text = str(place.value or "false").strip().lower()
    if text not in ("true", "false"):
        reading.unknown(place.path, "expected true or false")
    return text == "true"


def resources(conf: Conf, role: str, reading: Reading) -> Iterator[tuple[str, int, str]]:
    """Name, amount and path of every resource that Spark itself asks for: `<vendor>/<name>`.

    spark.<role>.resource.<name>.{amount,vendor}: core/resource/ResourceUtils.scala and
    kubernetes/deploy/k8s/features/Basic{Driver,Executor}FeatureStep.scala of apache/spark.
    """
    prefix = f"spark.{role}.resource."
    for rest, _, path in conf.below(prefix):
        name, _, setting = rest.partition(".")
        if setting != "amount":
            continue
        amount = whole(conf.place(f"{prefix}{rest}"), reading)
        vendor = conf.values.get(f"{prefix}{name}.vendor", "")
        if amount and not vendor:
            reading.unknown(path, f"without {prefix}{name}.vendor it is not known which resource this is")
        elif amount:
            yield f"{vendor}/{name}", amount, path


def environment(conf: Conf, role: str) -> Iterator[Place]:
    """The variables that rules read, each as a list of its own."""
    for name, value, path in conf.below(_ENVIRONMENT[role]):
        if name.startswith(READ_VARIABLES):
            yield Place([{"name": name, "value": value}], path)


def node_selector(conf: Conf, prefix: str) -> Mapping[str, str]:
    return {label: value for label, value, _ in conf.below(f"{prefix}.node.selector.")}


def tell_what_is_not_judged(conf: Conf, role: str, reading: Reading, *, has_template: bool) -> None:
    """Records the properties that usher does not judge: annotations for accelerators, and files of pod templates."""
    prefix = f"spark.kubernetes.{role}."
    for annotation, _, path in conf.below(f"{prefix}annotation."):
        if annotation in _ACCELERATOR_ANNOTATIONS or annotation.startswith(GKE_DEVICES):
            reading.unknown(path, f"accelerators by an annotation of sparkConf are not judged; write it under {role}")
    template = conf.place(f"{prefix}podTemplateFile")
    if template.value and not has_template:
        reading.unknown(template.path, "the pod template in this file is not judged")


def executors(conf: Conf, dynamic: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count | None:
    """How many executors run under dynamic allocation; None if it is off.

    Bounds in `dynamicAllocation` win over the properties, but count only if it is enabled there. By default Spark
    scales down to 0 and up without bound.
    """
    enabled = reading.flag(dynamic.get("enabled"), path + "/enabled")
    bounds = []
    for field in ("minExecutors", "maxExecutors"):
        given = dynamic.get(field)
        bound = None if given is None else reading.count(given, f"{path}/{field}", default=-1)
        if not enabled or bound is None or bound < 0:
            bound = pods(conf.place(f"spark.dynamicAllocation.{field}"), reading)
        bounds.append(bound)
    if not enabled and not flag(conf.place("spark.dynamicAllocation.enabled"), reading):
        return None
    lowest, highest = bounds[0] or 0, bounds[1]
    if highest is None:
        return model.Count(minimum=lowest, maximum=None, reason="dynamic allocation without maxExecutors")
    return model.Count(minimum=min(lowest, highest), maximum=highest, reason="dynamic allocation")
