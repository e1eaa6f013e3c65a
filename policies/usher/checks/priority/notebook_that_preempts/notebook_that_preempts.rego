# METADATA
# title: Notebooks do not use a priority class for services
# description: |
#   A notebook waits for a person most of the time. With a class that ranks beside production, it evicts training and
#   services to get its GPU, and nothing can evict it while it idles. The parameter classes lists texts in class names
#   that notebooks must not use. The check recognises notebooks by their kind, by the pod labels of Kubeflow and
#   JupyterHub, or by the label gpu-usher.io/role. Another check handles the system classes.
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
#   why: An idle notebook holds a GPU after it evicted running work.
#   closes: [S23]
#   parameters:
#     classes:
#       default: [critical, inference, production]
#       description: Texts that must not occur in the name of a notebook's class.
#   remediation: |
#     Name a class of low value, or one with `preemptionPolicy: Never`, so that the notebook waits for its GPU.
package usher.checks.priority.notebook_that_preempts

import data.usher.lib.parameters
import data.usher.lib.priority
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "interactive"
	some pod_set in workload.accelerator_pod_sets
	not startswith(pod_set.priorityClassName, "system-")
	some part in parameters.priority.notebook_that_preempts.classes
	contains(pod_set.priorityClassName, part)
	pod_set.priorityClassName != priority.declared_class

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} is interactive, but its priority class {text.excerpt(pod_set.priorityClassName)} lets it evict other pods to get its accelerators",
		"remedy": "name a class of low value",
	}
}
