"""Full objects of notebooks of Kubeflow (kinds/job_groups.py)."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths

OBJECTS: dict[str, paths.Object] = {
    "Notebook": builders.custom("kubeflow.org/v1", "Notebook", {"template": {"spec": template()["spec"]}}, **METADATA),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
