# METADATA
# title: All pods of a gang have one priority class
# description: |
#   A gang is as strong as its weakest pod: when a launcher of lower priority is evicted, the workers also stop. Kueue
#   reads the priority of the whole job from its first template. A first template without a class puts the job at the
#   end of the queue, whatever the other templates say. The check compares every template with the first one that asks
#   for accelerators. It skips the pod that submits a Ray job, because KubeRay makes this pod itself.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/#priority
#     description: Kueue on the priority of a workload
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes on priority and preemption
# schemas:
#   - input: schema.input
# custom:
#   code: USH604
#   about: accelerator pods
#   severity: medium
#   why: Kubernetes evicts one cheap pod, and the job stops on all of its GPUs.
#   closes: [S23]
#   remediation: Name the same priority class in every template.
package usher.checks.priority.classes_differ_in_gang

import data.usher.lib.workload

deny contains finding if {
	input.workload.gang.wanted
	first := workload.accelerator_pod_sets[0]
	some pod_set in input.podSets
	pod_set.priorityClassName != first.priorityClassName
	pod_set.name != "submitter"

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"{workload.pod_set_name(pod_set)} has {_class(pod_set)}, but {workload.pod_set_name(first)} of the same gang has {_class(first)}",
		"remedy": "name the same priority class in every template",
	}
}

_class(pod_set) := $"priority class {pod_set.priorityClassName}" if pod_set.priorityClassName != ""

_class(pod_set) := "no priority class" if pod_set.priorityClassName == ""
