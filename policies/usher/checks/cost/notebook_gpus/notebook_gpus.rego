# METADATA
# title: An interactive workload asks for at most the maximum number of GPUs
# description: |
#   A notebook holds its GPUs from the morning until somebody stops it, and uses them for minutes of the day. The site
#   decides how many one notebook may hold. Work that needs more belongs into a job.
#   Interactive workloads are the kinds of notebooks, pods with the labels of Kubeflow's or JupyterHub's notebooks, and
#   workloads with the label gpu-usher.io/role: interactive. The check counts whole accelerators of one pod. It does not
#   count slices and shares, which suit notebooks. It skips objects that a controller made, because usher judges their
#   owner.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/notebooks/overview/
#     description: Kubeflow on notebooks
# schemas:
#   - input: schema.input
# custom:
#   code: USH1303
#   about: accelerator pods
#   severity: medium
#   why: GPUs are idle behind an open notebook while jobs wait for them.
#   closes: [S44, S47]
#   parameters:
#     maximum:
#       default: 2
#       description: Maximum number of whole accelerators that one pod of an interactive workload may ask for.
#   remediation: |
#     Ask for fewer GPUs or for a slice of one, and run work that needs more as a job. Or ask an administrator to raise
#     the maximum of the namespace in usher.yaml (parameters, notebook-gpus, maximum).
package usher.checks.cost.notebook_gpus

import data.usher.lib.amounts
import data.usher.lib.parameters
import data.usher.lib.sharing
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "interactive"
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	asked := amounts.whole_devices(pod_set)
	not sharing.shared_nodes(pod_set)
	asked > _maximum

	finding := {
		"path": pod_set.path,
		"message": $"the interactive workload asks for {amounts.number_of(asked, "accelerator", "accelerators")}, more than the maximum of {_maximum} for one pod",
		"remedy": "ask for fewer or for slices, and run work that needs more as a job",
	}
}

_maximum := parameters.cost.notebook_gpus.maximum
