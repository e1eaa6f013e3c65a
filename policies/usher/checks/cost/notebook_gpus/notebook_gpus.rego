# METADATA
# title: Interactive workloads hold few GPUs
# description: |
#   A notebook holds its GPUs from the morning until somebody stops it, and uses them for minutes of the day. What one
#   of them may hold is a matter of the site; what needs more is a job. Interactive are the kinds of notebooks, pods with
#   the labels of Kubeflow's and JupyterHub's notebooks, and whatever has the label gpu-usher.io/role: interactive. Whole
#   accelerators of one pod are counted; slices and shares are what notebooks should have. What a controller made is
#   left alone: its owner was judged.
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
#   why: GPUs idle behind an open notebook while jobs wait for them.
#   closes: [S44, S47]
#   parameters:
#     maximum:
#       default: 2
#       description: Whole accelerators that one pod of an interactive workload may ask for.
#   remediation: |
#     Ask for fewer GPUs or for a slice of one, and run what needs more as a job; or have the ceiling of the namespace
#     raised in usher.yaml (parameters, notebook-gpus, maximum).
package usher.checks.cost.notebook_gpus

import data.usher.lib.amounts
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "interactive"
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	asked := amounts.whole_devices(pod_set)
	asked > _maximum

	finding := {
		"path": pod_set.path,
		"message": $"an interactive workload asks for {amounts.number_of(asked, "accelerator", "accelerators")}, more than the {_maximum} that one may hold",
		"remedy": "ask for no more than that, or for slices, and run what needs more as a job",
	}
}

_maximum := parameters.cost.notebook_gpus.maximum
