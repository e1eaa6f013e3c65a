# METADATA
# title: The minimum of a gang is not larger than its workload
# description: |
#   A gang starts when it has as many pods as its minimum. If the minimum is larger than the number of pods of the
#   workload, no pod ever starts. Volcano's webhook refuses a Volcano Job like this. But for plain Jobs with the
#   annotation, and for the jobs of kubeflow.org, no webhook checks the minimum. The jobs of kubeflow.org use it only if
#   their operator makes gangs. A description of a kind says where its minimum stands.
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
#   why: No pod of the workload ever starts, and no message says why.
#   closes: [S24, S26]
#   remediation: Lower the minimum to the number of pods. Or remove it, then the gang starts with all pods.
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

deny contains object.union(finding, _assumption) if {
	path := input.workload.gangPlaces.ownMinimum
	minimum := input.workload.gang.minimum
	most := input.workload.pods.maximum
	minimum > most
	fields := split(path, "/")
	finding := _finding(path, fields[count(fields) - 1], minimum, most)
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

# An autoscaler may set the replicas of a Deployment or StatefulSet.
deny contains finding if {
	input.workload.kind == "Job"
	volcano.places_pods
	minimum := volcano.min_member
	most := input.workload.pods.maximum
	minimum > most
	path := "/metadata/annotations/scheduling.volcano.sh~1group-min-member"
	finding := _finding(path, volcano.min_member_annotation, minimum, most)
}

# The API server refuses the Job (k8s.io/kubernetes pkg/apis/batch/validation), or drops the field.
deny contains finding if {
	minimum := input.object.job.spec.scheduling.schedulingPolicy.gang.minCount
	most := input.workload.pods.maximum
	minimum > most
	finding := _finding("/spec/scheduling/schedulingPolicy/gang/minCount", "minCount", minimum, most)
}

_finding(path, name, minimum, most) := {
	"path": path,
	"message": $"{name} is {minimum}, but there are never more than {most} pods, so no pod ever starts",
	"remedy": $"set it to {most} at most",
}

_assumption := {"assumption": $"usher assumes that the operator of {input.workload.kind}s makes gangs"} if {
	not routing.makes_gang
	not routing.made_by_operator
} else := {}
