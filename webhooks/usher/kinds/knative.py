"""serving.knative.dev: Service, Configuration and Revision.

A Service makes a Configuration. The Configuration makes a Revision for every change of its template, and the Revision
makes a Deployment.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading.pod_templates import pod_spec, pod_template
from usher.kinds.reading.templates import Place, Template, Traits
from usher.kinds.reading.values import Reading

_GROUP: Final = "autoscaling.knative.dev"

# Of two spellings the first counts: KN:pkg/apis/autoscaling/register.go.
_MIN_SCALE: Final = (f"{_GROUP}/min-scale", f"{_GROUP}/minScale")
_MAX_SCALE: Final = (f"{_GROUP}/max-scale", f"{_GROUP}/maxScale")
_INITIAL_SCALE: Final = (f"{_GROUP}/initial-scale", f"{_GROUP}/initialScale")

_NUMBER: Final = re.compile(r"\+?[0-9]{1,10}", re.ASCII)

# KN:pkg/reconciler/revision/resources/env_var.go
_TRAITS: Final = Traits(operator_environment=frozenset({"PORT", "K_*"}), changeable=False)


def _template(value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(value.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    count = _count(template.get("metadata"), "/spec/template/metadata", reading)
    yield pod_template(Place(template, "/spec/template"), reading, count=count, traits=_TRAITS)


def _revision(revision: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Revision: its spec is a pod spec with a few fields of Knative's own."""
    metadata = revision.get("metadata")
    yield pod_spec(
        Place(revision.get("spec"), "/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_count(metadata, "/metadata", reading),
        traits=_TRAITS,
    )


def _count(metadata: object, path: str, reading: Reading) -> model.Count:
    """The number of pods, between the two bounds. 0, or a missing bound, means the cluster's default: no bound.

    The Deployment starts with the initial scale, whatever the bounds are (KN:pkg/reconciler/revision/resources/
    deploy.go). The cluster's defaults: KN:config/core/configmaps/autoscaler.yaml.
    """
    annotations_path = path + "/annotations"
    annotations = reading.strings(reading.mapping(metadata, path).get("annotations"), annotations_path)
    lowest = _scale(annotations, annotations_path, _MIN_SCALE, reading) or 0
    highest = _scale(annotations, annotations_path, _MAX_SCALE, reading)
    initial = _scale(annotations, annotations_path, _INITIAL_SCALE, reading) or 0
    if not highest:
        reason = "no autoscaling.knative.dev/max-scale bounds what Knative makes"
        return model.Count(minimum=lowest, maximum=None, reason=reason)
    highest = max(lowest, highest, initial)
    return model.Count(
        minimum=lowest, maximum=highest, reason="" if lowest == highest else "Knative scales it between its bounds"
    )


def _scale(annotations: Mapping[str, str], path: str, keys: tuple[str, ...], reading: Reading) -> int | None:
    key = next((key for key in keys if annotations.get(key)), None)
    if key is None:
        return None
    here = paths.join(path, key)
    text = annotations[key]
    if not _NUMBER.fullmatch(text):
        reading.unknown(here, "expected a whole number of pods")
        return None
    return reading.count(int(text), here, default=0)


_COUNTED: Final = (
    "from annotation `autoscaling.knative.dev/min-scale` (0 if missing) to `max-scale`, "
    "without bound where that is 0 or missing"
)
_SOURCE: Final = "KN:pkg/apis/autoscaling/v1alpha1/pa_lifecycle.go, KN:config/core/configmaps/autoscaler.yaml"
_CHANGES: Final = (
    "labels for Kueue; Knative's webhook refuses scheduling fields unless feature flags are on, "
    "so its pods are changed instead"
)

KINDS = [
    Kind(
        **api("serving.knative.dev", "Service", "services", "v1"),
        owned_by=(("serving.kserve.io", "InferenceService"),),
        pods=Pods(
            templates=_template,
            template_paths=("spec.template",),
            counted=_COUNTED,
            source=_SOURCE,
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.SERVICE,
            runs_any_program=True,
            kueue=Kueue.CHILDREN,
            # The labels of the template reach the Revision, its Deployment and its pods.
            queue_label_path="/spec/template/metadata",
            changes=_CHANGES,
        ),
    ),
    Kind(
        **api("serving.knative.dev", "Configuration", "configurations", "v1"),
        owned_by=(("serving.knative.dev", "Service"),),
        pods=Pods(
            templates=_template,
            template_paths=("spec.template",),
            counted=_COUNTED,
            source=_SOURCE,
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.SERVICE,
            runs_any_program=True,
            kueue=Kueue.CHILDREN,
            queue_label_path="/spec/template/metadata",
            changes=_CHANGES,
        ),
    ),
    Kind(
        **api("serving.knative.dev", "Revision", "revisions", "v1"),
        owned_by=(("serving.knative.dev", "Configuration"),),
        pods=Pods(
            templates=_revision,
            template_paths=("`spec`, a pod spec with other fields beside",),
            counted=_COUNTED,
            source=_SOURCE + "; KN:pkg/reconciler/revision/resources/meta.go",
            **scheduled(KueueUnit.POD, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.SERVICE,
            runs_any_program=True,
            kueue=Kueue.CHILDREN,
            queue_label_path="/metadata",
            changes=_CHANGES,
        ),
    ),
]
