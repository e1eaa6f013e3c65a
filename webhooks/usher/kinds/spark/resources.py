"""The resource requests of the Spark container in a driver or an executor.

Spark overwrites cpu and memory of a pod template (Basic{Driver,Executor}FeatureStep.scala of apache/spark), and the
operator adds its own `gpu` and `memoryLimit` (SP:internal/webhook/sparkpod_defaulter.go).
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from usher import errors, quantities
from usher.kinds.spark import conf as spark_conf
from usher.kinds.spark.conf import Conf
from usher.reading.templates import NOWHERE, Place
from usher.reading.values import Reading

_MEMORY: Final = re.compile(r"([0-9]{1,15})([kmgtp]?)(b?)", re.ASCII | re.IGNORECASE)
_MEBIBYTES: Final[Mapping[str, int]] = {"m": 1, "g": 2**10, "t": 2**20, "p": 2**30}
_MOST_MEBIBYTES: Final = 2**33
"""More memory than any node has."""

_DEFAULT_MEMORY: Final = 1024
_LEAST_OVERHEAD: Final = 384
_OVERHEAD_FACTOR: Final = 0.1
_OVERHEAD_FACTOR_BESIDE_JVM: Final = 0.4
_FACTOR: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?", re.ASCII)


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


def of_role(role: str, own: Callable[[str], Place], conf: Conf, overhead: Overhead, reading: Reading) -> Amounts:
    """The amounts that Spark and the operator write into the container, whatever its template sets.

    Args:
        role: driver or executor.
        own: the places of the operator's own fields.
        conf: the properties, which count where a field is missing.
        overhead: of the application.
        reading: records values that are not amounts.
    """
    prefix = f"spark.kubernetes.{role}"
    cores = _number(own("cores"), reading) or spark_conf.whole(conf.place(f"spark.{role}.cores"), reading) or 1
    requested = _first_quantity((own("coreRequest"), conf.place(f"{prefix}.request.cores")), reading) or str(cores)
    limited = _first_quantity((own("coreLimit"), conf.place(f"{prefix}.limit.cores")), reading)
    memory = f"{_memory(role, own, conf, overhead, reading)}Mi"
    limit = _mebibytes(own("memoryLimit"), reading)
    limits = {"memory": memory if limit is None else f"{limit}Mi"}
    if limited:
        limits["cpu"] = limited
    found = {name: (str(amount), path) for name, amount, path in spark_conf.resources(conf, role, reading)}
    found |= _gpu(own("gpu"), reading)
    limits |= {name: amount for name, (amount, _) in found.items()}
    return Amounts(
        requests={"cpu": requested, "memory": memory},
        limits=limits,
        path=next((path for _, path in reversed(found.values())), ""),
    )


def over(given: Place, amounts: dict[str, str], reading: Reading, *, path: str) -> Place:
    """The amounts of a template with `amounts` written over them; at `path` if the template has no amounts."""
    own = {name: str(quantity) for name, quantity in reading.resources(*given).items()}
    return Place({**own, **amounts}, given.path if own else path)


def _gpu(place: Place, reading: Reading) -> dict[str, tuple[str, str]]:
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
