# METADATA
# title: Workflows bound the number of GPU pods that run at once
# description: |
#   A step with withParam runs once for every item, and all items run at the same time. The same holds for withSequence
#   if the workflow computes its number. A template that calls itself may run forever. The number of items is known
#   only at run time. `parallelism` of the workflow, or of the template that fans out, limits how many GPU pods run at
#   once. Without it, a long list takes the whole cluster.
# scope: package
# related_resources:
#   - ref: https://argo-workflows.readthedocs.io/en/latest/parallelism/
#     description: Argo Workflows on parallelism
#   - ref: https://argo-workflows.readthedocs.io/en/latest/walk-through/loops/
#     description: Argo Workflows on loops
# schemas:
#   - input: schema.input
# custom:
#   code: USH1102
#   about: accelerator pods
#   severity: medium
#   why: A list that is longer than expected takes all GPUs of the cluster.
#   closes: [S41]
#   remediation: Set `parallelism` in the spec of the workflow, or in the template whose steps or tasks fan out.
package usher.checks.scaling.fan_out_without_bound

import data.usher.lib.argo
import data.usher.lib.workload

deny contains finding if {
	input.workload.group == "argoproj.io"
	contains(input.workload.kind, "Workflow")
	not input.workload.owned
	not argo.runs_overlap
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum

	finding := {
		"path": pod_set.path,
		"message": $"the number of pods of {workload.pod_set_name(pod_set)} that run at once has no bound, and each asks for accelerators",
		"remedy": $"set {substring(replace(argo.path, "/", "."), 1, -1)}.parallelism, or parallelism of the template that fans out",
	}
}
