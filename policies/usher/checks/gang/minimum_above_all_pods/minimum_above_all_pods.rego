# METADATA
# title: A gang is no larger than its workload
# description: |
#   A gang starts when as many pods are there as its minimum says. Where it says more than the workload has, none of them
#   ever starts. Volcano refuses such Jobs of its own. The minimum of a plain Job, in an annotation, and that of
#   kubeflow.org's jobs is checked by nobody; the latter is read only when the operator makes gangs.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/vcjob/
#     description: Volcano on minAvailable
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on minMember
# schemas:
#   - input: schema.input
# custom:
#   code: USH504
#   about: accelerator pods
#   severity: high
#   why: None of the pods ever starts, and nothing says why.
#   closes: [S24, S26]
#   remediation: Lower the minimum to the number of pods, or leave it out, which means all of them.
package usher.checks.gang.minimum_above_all_pods

import data.usher.lib.routing
import data.usher.lib.volcano

deny contains object.union(finding, _assumption) if {
	input.workload.group == "kubeflow.org"
	minimum := input.workload.gang.minimum
	most := input.workload.pods.maximum
	minimum > most
	finding := _finding(input.workload.gangPlaces.minimum, "minAvailable", minimum, most)
}

deny contains finding if {
	minimum := volcano.named_minimum
	minimum > volcano.replicas
	finding := _finding($"{volcano.job_spec_path}/minAvailable", "minAvailable", minimum, volcano.replicas)
}

deny contains finding if {
	some index, task in volcano.job_spec.tasks
	replicas := object.get(task, "replicas", 0)
	task.minAvailable > replicas
	path := $"{volcano.job_spec_path}/tasks/{index}/minAvailable"
	finding := _finding(path, "minAvailable of the task", task.minAvailable, replicas)
}

# Of a Deployment or StatefulSet an autoscaler may set the replicas.
deny contains finding if {
	input.workload.kind == "Job"
	volcano.places_pods
	minimum := volcano.min_member
	most := input.workload.pods.maximum
	minimum > most
	path := "/metadata/annotations/scheduling.volcano.sh~1group-min-member"
	finding := _finding(path, volcano.min_member_annotation, minimum, most)
}

_finding(path, name, minimum, most) := {
	"path": path,
	"message": $"{name} is {minimum}, but there are never more than {most} pods, so none of them starts",
	"remedy": $"set it to {most} at most",
}

_assumption := {"assumption": $"the operator of {input.workload.kind}s makes gangs"} if {
	not routing.makes_gang
} else := {}
