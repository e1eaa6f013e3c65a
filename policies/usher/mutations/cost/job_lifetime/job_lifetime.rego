# METADATA
# title: Give jobs a deadline and a time to live
# description: |
#   A job that hangs holds its GPUs, and a finished job stays in the cluster until somebody deletes it. `lifecycle` of
#   usher.yaml can give a workload a deadline and a time to live after its end, by its namespace, role, kind and size.
#   Without an entry for the workload this mutation does nothing.
#   The webhook writes a field only if the kind has it and the author left it out. A deadline of the pods and Kueue's
#   label kueue.x-k8s.io/max-exec-time-seconds also count as a deadline. It skips objects that a controller made, because
#   the owner decides about them. A Workflow that runs a WorkflowTemplate keeps what the template says.
#   KubeRay reads the time of a RayJob only with `shutdownAfterJobFinishes`. The webhook sets both, because otherwise the
#   Ray cluster keeps its GPUs after the job. It leaves a RayJob alone that says anything about the end of its cluster,
#   and one that Kueue would only queue with `shutdownAfterJobFinishes`: its author must decide.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
#     description: Kubernetes on the end of Jobs
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayjob-quick-start.html
#     description: KubeRay on the fields of a RayJob
# schemas:
#   - input: schema.input
# custom:
#   code: USM1301
#   order: 85
#   protects_others: true
#   about: accelerator pods
package usher.mutations.cost.job_lifetime

import data.usher.lib.kueue
import data.usher.lib.queueable
import data.usher.lib.workload

intents contains intent if {
	some setting, seconds in _wanted
	not _why_no[setting]

	intent := {
		"at": "",
		"field": "lifetime",
		"value": {"setting": setting, "seconds": seconds},
		"reason": _reasons[setting],
	}
}

_wanted[setting] := seconds if {
	some setting in ["deadline", "ttl"]
	seconds := input.site.lifecycle[setting]
}

_reasons := {
	"deadline": "usher.yaml gives this workload a deadline, so that it cannot hang for ever",
	"ttl": "usher.yaml says how long this workload stays after its end",
}

_fields := {"deadline": "a deadline", "ttl": "a time to live"}

_why_no[setting] := reason if {
	some setting, _ in _wanted
	reason := _why_not(setting)
}

_why_not(setting) := "a controller made this object, and its owner decides" if input.workload.owned

else := $"the kind {input.workload.kind} has no field for {_fields[setting]}" if not input.workload.lifecycle[setting]

else := _decided(setting)

_decided("deadline") := "Kueue's label for the maximum execution time is its deadline" if {
	some labels in [input.workload.labels, object.get(input.workload, "queueLabels", {})]
	labels["kueue.x-k8s.io/max-exec-time-seconds"]
}

else := "its pods have a deadline" if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.activeDeadlineSeconds
}

_decided("ttl") := "Kueue would only queue this RayJob with shutdownAfterJobFinishes; set it, and the webhook queues the job" if {
	queueable.keeps_its_cluster
	kueue.could_join_declared_queue
}

skips contains {"at": "", "reason": reason} if some _, reason in _why_no

skips contains {"at": "", "reason": "lifecycle of usher.yaml gives this workload neither a deadline nor a time to live"} if {
	count(_wanted) == 0
}
