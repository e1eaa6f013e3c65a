"""kubeflow.org: Notebook."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.reading.templates import ONE, Place, Template, Traits
from usher.reading.values import Reading

STOPPED: Final = "kubeflow-resource-stopped"
"""The annotation of a stopped Notebook. The culler and the user interface set it; its value does not matter."""

_TRAITS: Final = Traits(operator_environment=frozenset({"NB_PREFIX"}))
_STOPPED: Final = model.Count(minimum=0, maximum=1, reason="it is stopped, and may be started again")


def _notebook(notebook: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """One pod, which gets the labels and annotations of the Notebook itself: its template has no metadata.

    components/notebook-controller/controllers/notebook_controller.go of kubeflow/kubeflow, generateStatefulSet.
    """
    spec = reading.mapping(notebook.get("spec"), "/spec")
    template = reading.mapping(spec.get("template"), "/spec/template")
    metadata = reading.mapping(notebook.get("metadata"), "/metadata")
    annotations = reading.strings(metadata.get("annotations"), "/metadata/annotations")
    yield Template(
        name="",
        path="/spec/template",
        spec=Place(template.get("spec"), "/spec/template/spec"),
        metadata=Place(metadata, "/metadata"),
        count=_STOPPED if STOPPED in annotations else ONE,
        traits=_TRAITS,
    )


KINDS: list[Kind] = [
    Kind(
        group="kubeflow.org",
        kind="Notebook",
        versions=("v1", "v1beta1", "v1alpha1"),
        plural="notebooks",
        pods=Pods(
            templates=_notebook,
            template_paths=("spec.template.spec",),
            counted=f"1; 0 while it has the annotation `{STOPPED}`",
            source="components/notebook-controller of kubeflow/kubeflow",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            role=model.Role.INTERACTIVE,
            kueue=Kueue.CHILDREN,
            # The StatefulSet's pod carries the labels of the Notebook.
            queue_label_path="/metadata",
        ),
    ),
]
