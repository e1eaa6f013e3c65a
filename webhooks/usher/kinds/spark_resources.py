"""The resource requests of the Spark container in a driver or an executor, and the properties of `sparkConf`.

Spark overwrites cpu and memory of a pod template (Basic{Driver,Executor}FeatureStep.scala of apache/spark), and the
operator adds its own `gpu` and `memoryLimit` (SP:internal/webhook/sparkpod_defaulter.go).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from usher import errors, memo, model, paths, quantities
from usher.accelerators.names import GKE_DEVICES, GPU_FRACTION, GPU_MEMORY
from usher.kinds.reading.environment import is_read
from usher.kinds.reading.templates import NOWHERE, Place
from usher.kinds.reading.values import Reading

DRIVER: Final = "driver"
EXECUTOR: Final = "executor"

_WHOLE: Final = memo.pattern(r"[0-9]{1,9}", re.ASCII)
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


def read_conf(value: object, path: str, reading: Reading) -> Conf:
    return Conf(values=reading.strings(value, path), path=path)


def whole_number(place: Place, reading: Reading) -> int | None:
    """A whole number; None if it is missing or cannot be read."""
    text = place.value
    if not isinstance(text, str) or not text:
        return None
    if not _WHOLE.fullmatch(text.strip()):
        reading.unknown(place.path, "expected a whole number")
        return None
    return int(text)


def number_of_pods(place: Place, reading: Reading) -> int | None:
    """A number of pods; None where it is missing, unreadable or larger than any cluster."""
    number = whole_number(place, reading)
    found = -1 if number is None else reading.count(number, place.path, default=-1)
    return found if found >= 0 else None


def is_true(place: Place, reading: Reading) -> bool:
    text = str(place.value or "false").strip().lower()
    if text not in ("true", "false"):
        reading.unknown(place.path, "expected true or false")
    return text == "true"


def conf_resources(conf: Conf, role: str, reading: Reading) -> Iterator[tuple[str, int, str]]:
    """Name, amount and path of every resource that Spark itself asks for: `<vendor>/<name>`.

    spark.<role>.resource.<name>.{amount,vendor}: core/resource/ResourceUtils.scala and
    kubernetes/deploy/k8s/features/Basic{Driver,Executor}FeatureStep.scala of apache/spark.
    """
    prefix = f"spark.{role}.resource."
    for rest, _, path in conf.below(prefix):
        name, _, setting = rest.partition(".")
        if setting != "amount":
            continue
        amount = whole_number(conf.place(f"{prefix}{rest}"), reading)
        vendor = conf.values.get(f"{prefix}{name}.vendor", "")
        # Without a vendor Spark refuses the application: the check spark-resource-without-vendor says so.
        if amount and vendor:
            yield f"{vendor}/{name}", amount, path


def conf_environment(conf: Conf, role: str) -> Iterator[Place]:
    """The variables that rules read, each as a list of its own."""
    for name, value, path in conf.below(_ENVIRONMENT[role]):
        if is_read(name):
            yield Place([{"name": name, "value": value}], path)


def conf_node_selector(conf: Conf, prefix: str) -> Mapping[str, str]:
    return {label: value for label, value, _ in conf.below(f"{prefix}.node.selector.")}


def record_unjudged_properties(conf: Conf, role: str, reading: Reading, *, has_template: bool) -> None:
    """Records the properties that usher does not judge: annotations for accelerators, and files of pod templates."""
    prefix = f"spark.kubernetes.{role}."
    for annotation, _, path in conf.below(f"{prefix}annotation."):
        if annotation in _ACCELERATOR_ANNOTATIONS or annotation.startswith(GKE_DEVICES):
            reading.unknown(path, f"accelerators by an annotation of sparkConf are not judged; write it under {role}")
    template = conf.place(f"{prefix}podTemplateFile")
    if template.value and not has_template:
        reading.unknown(template.path, "the pod template in this file is not judged")


def dynamic_executors(conf: Conf, dynamic: Mapping[str, paths.Json], path: str, reading: Reading) -> model.Count | None:
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
            bound = number_of_pods(conf.place(f"spark.dynamicAllocation.{field}"), reading)
        bounds.append(bound)
    if not enabled and not is_true(conf.place("spark.dynamicAllocation.enabled"), reading):
        return None
    lowest, highest = bounds[0] or 0, bounds[1]
    if highest is None:
        return model.Count(minimum=lowest, maximum=None, reason="dynamic allocation without maxExecutors")
    return model.Count(minimum=min(lowest, highest), maximum=highest, reason="dynamic allocation")


_MEMORY: Final = memo.pattern(r"([0-9]{1,15})([kmgtp]?)(b?)", re.ASCII | re.IGNORECASE)
_MEBIBYTES: Final[Mapping[str, int]] = {"m": 1, "g": 2**10, "t": 2**20, "p": 2**30}
_MOST_MEBIBYTES: Final = 2**33
"""More memory than any node has."""

_DEFAULT_MEMORY: Final = 1024
_LEAST_OVERHEAD: Final = 384
_OVERHEAD_FACTOR: Final = 0.1
_OVERHEAD_FACTOR_BESIDE_JVM: Final = 0.4
_FACTOR: Final = memo.pattern(r"[0-9]{1,3}(\.[0-9]{1,6})?", re.ASCII)


class Overhead(NamedTuple):
    """The memory of a pod beside the heap, if the application sets no amount."""

    factor: Place = NOWHERE
    beside_jvm: bool = False
    """Whether the application does not run on the JVM: Python, R."""


class Amounts(NamedTuple):
    requests: dict[str, str]
    limits: dict[str, str]
    path: str
    """Path of the first accelerator; empty without accelerators."""


def amounts_of_role(
    role: str, own: Callable[[str], Place], conf: Conf, overhead: Overhead, reading: Reading
) -> Amounts:
    """The amounts that Spark and the operator write into the container, whatever its template sets.

    Args:
        role: driver or executor.
        own: the places of the operator's own fields.
        conf: the properties, which count where a field is missing.
        overhead: of the application.
    """
    prefix = f"spark.kubernetes.{role}"
    cores = _number(own("cores"), reading) or whole_number(conf.place(f"spark.{role}.cores"), reading) or 1
    requested = _first_quantity((own("coreRequest"), conf.place(f"{prefix}.request.cores")), reading) or str(cores)
    limited = _first_quantity((own("coreLimit"), conf.place(f"{prefix}.limit.cores")), reading)
    memory = f"{_memory(role, own, conf, overhead, reading)}Mi"
    limit = _mebibytes(own("memoryLimit"), reading)
    limits = {"memory": memory if limit is None else f"{limit}Mi"}
    if limited:
        limits["cpu"] = limited
    found = {name: (str(amount), path) for name, amount, path in conf_resources(conf, role, reading)}
    found |= _gpus_of_field(own("gpu"), reading)
    limits |= {name: amount for name, (amount, _) in found.items()}
    return Amounts(
        requests={"cpu": requested, "memory": memory},
        limits=limits,
        path=next((path for _, path in reversed(found.values())), ""),
    )


def write_amounts_over(given: Place, amounts: dict[str, str], reading: Reading, *, path: str) -> Place:
    """The amounts of a template with `amounts` written over them; at `path` if the template has no amounts."""
    own = {name: str(quantity) for name, quantity in reading.resources(*given).items()}
    return Place({**own, **amounts}, given.path if own else path)


def _gpus_of_field(place: Place, reading: Reading) -> dict[str, tuple[str, str]]:
    """The GPUs of the operator's field. The operator ignores a GPU without a name; a quantity of 0 adds nothing."""
    gpu = reading.mapping(*place)
    name = reading.text(gpu.get("name"), place.path + "/name")
    quantity = _number(Place(gpu.get("quantity"), place.path + "/quantity"), reading)
    return {name: (str(quantity), place.path)} if name and quantity else {}


def _number(place: Place, reading: Reading) -> int | None:
    value = place.value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        reading.unknown(place.path, "expected a whole number from 0")
        return None
    return value


def _first_quantity(places: tuple[Place, ...], reading: Reading) -> str:
    texts = [_quantity(place, reading) for place in places]
    return next(filter(None, texts), "")


def _quantity(place: Place, reading: Reading) -> str:
    text = reading.text(*place)
    try:
        if text and quantities.parse(text) < quantities.ZERO:
            reading.unknown(place.path, f"{text} is negative; no resource is")
            return ""
    except errors.QuantityError as error:
        reading.unknown(place.path, str(error))
        return ""
    return text


def _memory(role: str, own: Callable[[str], Place], conf: Conf, overhead: Overhead, reading: Reading) -> int:
    """MiB of the heap and beside it.

    Spark adds off-heap memory and PySpark's memory if the application asks for them.
    """
    heap = _first_mebibytes((own("memory"), conf.place(f"spark.{role}.memory")), reading)
    heap = _DEFAULT_MEMORY if heap is None else heap
    beside = _first_mebibytes((own("memoryOverhead"), conf.place(f"spark.{role}.memoryOverhead")), reading)
    if beside is None:
        beside = max(int(heap * _factor(role, conf, overhead, reading)), _LEAST_OVERHEAD)
    return heap + beside


def _factor(role: str, conf: Conf, overhead: Overhead, reading: Reading) -> float:
    places = (
        conf.place(f"spark.{role}.memoryOverheadFactor"),
        conf.place("spark.kubernetes.memoryOverheadFactor"),
        overhead.factor,
    )
    found = None
    for place in places:
        text = reading.text(*place)
        if text and not _FACTOR.fullmatch(text):
            reading.unknown(place.path, "expected a decimal number")
        elif text and found is None:
            found = float(text)
    if found is not None:
        return found
    return _OVERHEAD_FACTOR_BESIDE_JVM if overhead.beside_jvm else _OVERHEAD_FACTOR


def _first_mebibytes(places: tuple[Place, ...], reading: Reading) -> int | None:
    amounts = [_mebibytes(place, reading) for place in places]
    return next((amount for amount in amounts if amount is not None), None)


def _mebibytes(place: Place, reading: Reading) -> int | None:
    """An amount of memory as Java writes it: in MiB if it has no unit, and 1k is 1024 bytes."""
    text = reading.text(*place).strip()
    if not text:
        return None
    found = _MEMORY.fullmatch(text)
    if found is None:
        reading.unknown(place.path, "expected an amount of memory, for example 512m or 4g")
        return None
    number, unit = int(found[1]), found[2].lower()
    if unit == "k":
        number >>= 10
    elif unit:
        number *= _MEBIBYTES[unit]
    elif found[3]:
        number >>= 20
    if number > _MOST_MEBIBYTES:
        reading.unknown(place.path, "no node has so much memory")
        return None
    return number
