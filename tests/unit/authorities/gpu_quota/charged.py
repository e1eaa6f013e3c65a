"""Charges of workloads as texts: by unit, and by priority class where it matters."""

from collections.abc import Sequence

from unit.workloads.normalised import workload
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import NOTHING_ASSUMED, Assumption, Limits
from usher.config import pools as config_pools
from usher.config import sections
from usher.kinds.reading.values import NO_OBJECTS, Lookup
from usher.workloads.normalise import normalise

H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
A30 = {"nvidia.com/gpu.product": "NVIDIA-A30"}
A100_40 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
T4 = {"nvidia.com/gpu.product": "Tesla-T4"}


def charge(
    value: paths.Object | model.Workload,
    *,
    pools: Sequence[config_pools.Pool] = (),
    accelerators: sections.Accelerators | None = None,
    assumption: Assumption = NOTHING_ASSUMED,
    limits: Limits = (),
    default_class: str = "",
    objects: Lookup = NO_OBJECTS,
) -> gpu_quota_charge.Charge:
    vocabulary = Vocabulary(accelerators or sections.Accelerators())
    if isinstance(value, dict) and accelerators is not None:
        found = normalise(value, vocabulary=vocabulary, objects=objects)
        assert found is not None
    else:
        found = workload(value, objects=objects) if isinstance(value, dict) else value
    return gpu_quota_charge.charge(
        found,
        pools=pools,
        vocabulary=vocabulary,
        assumption=assumption,
        limits=limits,
        default_class=default_class,
    )


def texts(of_units: definitions.Amounts) -> dict[str, str]:
    return {unit: definitions.number(nanos) for unit, nanos in sorted(of_units.items())}


def total(value: paths.Object | model.Workload, **more: object) -> dict[str, str]:
    """The charge for all priority classes together, which must be bounded and clear."""
    found = charge(value, **more)  # type: ignore[arg-type]  # the same arguments
    assert (found.unbounded, found.unclear) == ("", ())
    return texts(gpu_quota_charge.amounts_of_classes(found.amounts, ()))
