# METADATA
# title: Let Volcano place a job as a gang
# description: |
#   The pods of a distributed job only work together, so either all of them start or none. Where usher.yaml routes the
#   kind to Volcano, every pod set is given its scheduler, the launcher too, and the job's own gang policy the queue.
#   The job's operator makes the PodGroup from this, if it is run with gang scheduling by Volcano; the scheduler's name
#   alone makes no gang. How many pods the gang needs is left to the operator, which counts them all: a number written
#   here would be wrong as soon as the job is scaled.
#   Jobs that name another scheduler anywhere are left alone, and so are those whose pods Kueue places by topology,
#   because two placements of one pod contradict each other.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/gang_scheduling/
#     description: Volcano on gang scheduling
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USM501
package usher.mutations.gang.volcano_routing

import data.usher.lib.kueue
import data.usher.lib.workload

intents contains intent if {
	_routed
	some pod_set in input.podSets

	intent := {
		"at": pod_set.path,
		"field": "schedulerName",
		"value": {"name": input.site.route.schedulerName},
		"reason": "all pods of a gang need one scheduler",
	}
}

intents contains intent if {
	_routed
	input.workload.gangPolicyPath

	intent := {
		"at": "",
		"field": "gangPolicy",
		"value": {"queue": input.site.route.queue},
		"reason": $"{input.workload.kind}s of namespace {input.workload.namespace} run as gangs in queue {input.site.route.queue}",
	}
}

_routed if {
	input.site.route.scheduler == "volcano"
	not input.workload.owned
	workload.makes_several_pods
	not _names_another_scheduler
	not kueue.asks_topology
}

_names_another_scheduler if {
	some pod_set in input.podSets
	not pod_set.schedulerName in {"", input.site.route.schedulerName}
}
