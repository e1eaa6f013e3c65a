# METADATA
# title: Routing
# description: Which scheduler usher.yaml sends a workload to, and why one stays where it is.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.routing

import data.usher.lib.kueue
import data.usher.lib.volcano
import data.usher.lib.workload

# METADATA
# title: Label that names a queue of KAI-Scheduler
# description: Read on the outermost object that made a pod, and on the pod.
kai_queue_label := "kai.scheduler/queue"

# METADATA
# title: Whether the workload is routed to Volcano
to_volcano if {
	input.site.route.scheduler == "volcano"
	not why_no_gang
	not why_not_on_volcano
}

# METADATA
# title: Whether the workload is routed to KAI-Scheduler
to_kai if {
	input.site.route.scheduler == "kai"
	not why_no_gang
	not why_not_on_kai
}

# METADATA
# title: Whether usher.yaml routes the workload to a scheduler that can make a gang of it
# description: Also where it is left alone for what it says itself, of which other checks speak.
makes_gang if {
	input.site.route.scheduler == "volcano"
	not why_not_on_volcano
}

makes_gang if {
	input.site.route.scheduler == "kai"
	not why_not_on_kai
}

# METADATA
# title: Whether the gang is made on Volcano by the operator of the kind
# description: As usher.yaml or the workload's runtime tells; elsewhere it depends on how the operator is set up.
made_by_operator if {
	input.site.route.scheduler == "volcano"
	input.workload.gangPlaces.countedByOperator
	not why_not_on_volcano
}

made_by_operator if input.workload.gang.scheduler == "volcano"

made_by_operator if {
	some pod_set in input.podSets
	pod_set.schedulerName == "volcano"
	pod_set.places.schedulerName == input.workload.gangPlaces.scheduler
}

# METADATA
# title: Scheduler of the route, as a mutation gives it to a pod set
# description: Into templates of its own kinds the API server writes the default scheduler where nobody named one.
scheduler := {"name": input.site.route.schedulerName, "instead": _default_scheduler} if _of_kubernetes

scheduler := {"name": input.site.route.schedulerName} if not _of_kubernetes

# METADATA
# title: Whether somebody chose the scheduler of a pod set
chosen(pod_set) if not pod_set.schedulerName in _of_nobody

# METADATA
# title: Why a workload is not routed, wherever to
# description: Undefined where nothing stands in the way.
why_no_gang := "what its controller was made of is routed, and not what it makes" if input.workload.owned

else := "one pod is no gang" if not workload.makes_several_pods

else := "its groups have one pod each, which is no gang" if _groups_of_one

else := "one of its templates names another scheduler" if _names_another_scheduler

else := "Kueue places its pods by topology" if kueue.asks_topology

# METADATA
# title: Why Volcano cannot take the workload as a gang
# description: Undefined where it can.
why_not_on_volcano := _of_runtime if input.workload.kind == "TrainJob"

else := "the JobTemplates of its flows name the queue, so it is not routed: route JobTemplate" if {
	input.workload.gangNative
	not input.workload.gangPlaces.queue
}

else := $"Volcano makes no gang of a {input.workload.kind}, so it is not routed: use a kind that it knows" if {
	not input.workload.gangPlaces.queue
}

else := "its pods are made one after the other, so it is not routed: Volcano would wait for all of them before it places the first. Set podManagementPolicy to Parallel" if {
	volcano.makes_pods_in_order
}

else := "a rolling update would make a second gang, which waits for pods that the first keeps from being made, so it is not routed: set strategy.type to Recreate" if {
	input.workload.kind == "Deployment"
	object.get(input.object.deployment, ["spec", "strategy", "type"], "RollingUpdate") != "Recreate"
}

else := $"its operator knows Volcano by the name volcano alone, so it is not routed to {input.site.route.schedulerName}: name that one in usher.yaml" if {
	input.workload.group in {"ray.io", "sparkoperator.k8s.io"}
	input.site.route.schedulerName != "volcano"
}

# METADATA
# title: Why KAI-Scheduler cannot take the workload as a gang
# description: Undefined where it can.
why_not_on_kai := $"KAI-Scheduler makes no gang of a {input.workload.kind}, so it is not routed: use a kind that it knows" if {
	not input.workload.kind in object.get(_gangs_of_kai, input.workload.group, set())
}

else := $"schedulerName cannot be set in its {workload.pod_set_name(pod_set)}, so it is not routed: name {input.site.route.schedulerName} where that template stands" if {
	pod_set := _out_of_reach[0]
}

# METADATA
# title: What must be in the cluster for Volcano
# description: Without its controllers and the queue, pods that name it wait for ever.
needs_of_volcano := [
	{
		"group": "apiextensions.k8s.io",
		"kind": "CustomResourceDefinition",
		"name": "podgroups.scheduling.volcano.sh",
	},
	{"group": "scheduling.volcano.sh", "kind": "Queue", "name": input.site.route.queue},
]

# METADATA
# title: What must be in the cluster for KAI-Scheduler
needs_of_kai := [
	{
		"group": "apiextensions.k8s.io",
		"kind": "CustomResourceDefinition",
		"name": "queues.scheduling.run.ai",
	},
	{"group": "scheduling.run.ai", "kind": "Queue", "name": input.site.route.queue},
]

_default_scheduler := "default-scheduler"

_of_kubernetes if input.workload.group in {"", "apps", "batch"}

_of_nobody := {"", _default_scheduler} if _of_kubernetes

_of_nobody := {""} if not _of_kubernetes

_names_another_scheduler if {
	some pod_set in input.podSets
	chosen(pod_set)
	pod_set.schedulerName != input.site.route.schedulerName
}

# Of a Volcano Job, whose pods take it where their template names none.
_names_another_scheduler if {
	not object.get(volcano.job_spec, "schedulerName", "") in {"", input.site.route.schedulerName}
}

# Every group of a LeaderWorkerSet is a gang of its own.
_groups_of_one if {
	input.workload.kind == "LeaderWorkerSet"
	object.get(input.workload.gang, "minimum", 1) == 1
}

_of_runtime := "its runtime is not known to make a PodGroup of Volcano, so it is not routed: use one with spec.podGroupPolicy.volcano" if {
	not input.workload.gang.scheduler == "volcano"
}

else := $"a TrainJob cannot set schedulerName, so it is not routed: name {input.site.route.schedulerName} in every template of its runtime" if {
	some pod_set in input.podSets
	pod_set.schedulerName != input.site.route.schedulerName
}

# Kinds whose pods the pod grouper of KAI-Scheduler counts. Pods of all others start one by one: those of a Job, a
# StatefulSet or a Deployment too (pkg/podgrouper/podgrouper/plugins of NVIDIA/KAI-Scheduler).
_gangs_of_kai := {
	"jobset.x-k8s.io": {"JobSet"},
	"kubeflow.org": {"JAXJob", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob"},
	"leaderworkerset.x-k8s.io": {"LeaderWorkerSet"},
	"ray.io": {"RayCluster", "RayJob", "RayService"},
	"trainer.kubeflow.org": {"TrainJob"},
}

# What submits a Ray job may be placed by anybody.
_out_of_reach := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	not pod_set.changeable
	pod_set.schedulerName != input.site.route.schedulerName
]
