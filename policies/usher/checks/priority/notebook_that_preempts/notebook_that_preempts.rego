# METADATA
# title: Notebooks have no class that is for services
# description: |
#   A notebook waits for a person most of the time. In a class that ranks with production it evicts training and services
#   to get its GPU, and nothing can evict it while it idles. Which classes are kept from notebooks is told by their names.
#   Notebooks are known by their kind, by the labels that Kubeflow and JupyterHub give to their pods, or by the label
#   gpu-usher.io/role. The classes of the system are for another check.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
# schemas:
#   - input: schema.input
# custom:
#   code: USH606
#   about: accelerator pods
#   severity: medium
#   why: An idle notebook keeps a GPU for which it has thrown out work that was running.
#   closes: [S23]
#   parameters:
#     classes:
#       default: [critical, inference, production]
#       description: Texts of which none may be in the name of a notebook's class.
#   remediation: |
#     Name a class of low value, or one with `preemptionPolicy: Never`, so that the notebook waits for its GPU.
package usher.checks.priority.notebook_that_preempts

import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "interactive"
	some pod_set in workload.accelerator_pod_sets
	not startswith(pod_set.priorityClassName, "system-")
	some part in parameters.priority.notebook_that_preempts.classes
	contains(pod_set.priorityClassName, part)

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} is interactive, and evicts others by priority class {text.excerpt(pod_set.priorityClassName)} to get its accelerators",
		"remedy": "name a class of low value",
	}
}
