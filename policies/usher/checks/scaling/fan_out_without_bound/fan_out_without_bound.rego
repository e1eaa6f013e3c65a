# METADATA
# title: Workflows bound how many GPU pods run at once
# description: |
#   A step with withParam, or with withSequence of a number that is worked out on the way, runs once for every item, all
#   of them at the same time; a template that runs itself again goes on for ever. How many items there will be, only the
#   run tells. Where their pods ask for accelerators, `parallelism` of the workflow, or of the template whose steps fan
#   out, is what keeps a long list from taking the whole cluster.
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
#   why: A list that is longer than somebody thought takes all GPUs of the cluster.
#   closes: [S41]
#   remediation: |
#     Set `parallelism` in the spec of the workflow, or in the template whose steps or tasks fan out.
package usher.checks.scaling.fan_out_without_bound

import data.usher.lib.argo
import data.usher.lib.workload

deny contains finding if {
	input.workload.group == "argoproj.io"
	not input.workload.owned
	not argo.runs_overlap
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum

	finding := {
		"path": pod_set.path,
		"message": $"nothing bounds how many pods of {workload.pod_set_name(pod_set)} run at once, and each asks for accelerators",
		"remedy": $"set {substring(replace(argo.path, "/", "."), 1, -1)}.parallelism, or parallelism of the template that fans out",
	}
}
