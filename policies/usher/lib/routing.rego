# METADATA
# title: Routing
# description: The scheduler to which usher.yaml routes a workload, and why it does not route one.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.routing

import data.usher.lib.kueue
import data.usher.lib.sharing
import data.usher.lib.volcano
import data.usher.lib.workload

# METADATA
# title: Label that names a queue of KAI-Scheduler
# description: KAI-Scheduler reads it on the outermost owner of a pod, and on the pod.
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
# title: Whether the scheduler of Kubernetes gets the workload as a gang
to_native if {
	input.site.route.scheduler == "native"
	not why_no_gang
	not why_not_native
}

# METADATA
# title: Whether usher.yaml routes the workload to a scheduler that can make a gang of it
# description: Also true if the webhook skips the workload because of its own settings, which other checks report.
makes_gang if {
	input.site.route.scheduler == "volcano"
	not why_not_on_volcano
}

makes_gang if {
	input.site.route.scheduler == "kai"
	not why_not_on_kai
}

makes_gang if {
	input.site.route.scheduler == "native"
	not why_not_native
}

# METADATA
# title: Whether the operator of the kind makes the gang on Volcano
# description: |
#   As usher.yaml or the runtime of the workload tells. In all other cases this depends on the configuration of the
#   operator.
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
# title: Scheduler of the route, as the value of an intent
# description: The API server writes the default scheduler into templates of built-in kinds that name no scheduler.
scheduler := {"name": input.site.route.schedulerName, "instead": _default_scheduler} if _of_kubernetes

scheduler := {"name": input.site.route.schedulerName} if not _of_kubernetes

# METADATA
# title: Whether the author chose the scheduler of a pod set
chosen(pod_set) if not pod_set.schedulerName in _not_chosen

# METADATA
# title: Why a workload is not routed to any scheduler
# description: Undefined if the workload can be routed.
why_no_gang := "a controller made this object, and the webhook routes the owner" if input.workload.owned

else := "the workload has only one pod, which needs no gang" if not workload.makes_several_pods

else := "each of its groups has only one pod, which needs no gang" if _groups_of_one

else := "one of its templates names another scheduler" if _names_another_scheduler

else := $"its pods name a PodGroup of Kubernetes, which {input.site.route.schedulerName} does not read" if {
	input.site.route.scheduler != "native"
	names_a_native_group
}

else := "Kueue places its pods by topology" if kueue.asks_topology

else := $"the workload is in queue {kueue.queue_name} of Kueue, and a second scheduler would hold its pods again" if kueue.in_queue

# METADATA
# title: Why Volcano cannot start the workload as a gang
# description: Undefined if it can.
why_not_on_volcano := _of_runtime if input.workload.kind == "TrainJob"

else := "the webhook does not route this object, because the JobTemplates of its flows name the queue; route kind JobTemplate" if {
	input.workload.gangNative
	not input.workload.gangPlaces.queue
}

else := _by_operator("nvidia.com/volcano-queue") if input.workload.group == "nvidia.com"

else := _by_operator("rbg.workloads.x-k8s.io/group-gang-scheduling-volcano-queue") if {
	input.workload.group == "workloads.x-k8s.io"
}

else := $"the webhook does not route this object, because Volcano cannot make a gang of a {input.workload.kind}; use a kind that Volcano supports" if {
	not input.workload.gangPlaces.queue
}

else := "the webhook does not route this object, because Kubernetes makes its pods in order and Volcano would wait for all of them; set podManagementPolicy to Parallel" if {
	volcano.makes_pods_in_order
}

else := "the webhook does not route this object, because a rolling update would make a second gang that waits for pods while the first gang blocks them; set strategy.type to Recreate" if {
	input.workload.kind == "Deployment"
	object.get(input.object.deployment, ["spec", "strategy", "type"], "RollingUpdate") != "Recreate"
}

else := $"the webhook does not route this object to {input.site.route.schedulerName}, because its operator supports only the scheduler name volcano; use volcano in usher.yaml" if {
	input.workload.group in ["ray.io", "sparkoperator.k8s.io"]
	input.site.route.schedulerName != "volcano"
}

# METADATA
# title: Why KAI-Scheduler cannot start the workload as a gang
# description: Undefined if it can.
why_not_on_kai := _by_operator("nvidia.com/kai-scheduler-queue") if input.workload.group == "nvidia.com"

else := $"the webhook does not route this object, because KAI-Scheduler cannot make a gang of a {input.workload.kind}; use a kind that KAI-Scheduler supports" if {
	not input.workload.kind in object.get(_gangs_of_kai, input.workload.group, set())
}

else := $"the webhook does not route this object, because it cannot set schedulerName in {workload.pod_set_name(pod_set)}; set {input.site.route.schedulerName} in the object that holds this template" if {
	pod_set := _out_of_reach[0]
}

else := $"the webhook does not route this object, because KAI-Scheduler refuses pods that ask for whole GPUs and, by the annotation {entry.annotation}, for a part of one; remove either" if {
	entry := sharing.fractions_beside_gpus[0]
}

# METADATA
# title: Why the scheduler of Kubernetes cannot start the workload as a gang
# description: Undefined if it can. Only the Job controller makes PodGroups itself.
why_not_native := "its pods name a PodGroup of Kubernetes already" if names_a_native_group

else := $"the webhook does not route this object, because Kubernetes makes no PodGroup for a {input.workload.kind}; create one and name it in schedulingGroup of every template" if {
	not input.workload.gangPlaces.native
}

else := "the webhook does not route this object, because the cluster does not serve PodGroups of Kubernetes; turn on the feature gates GenericWorkload and WorkloadWithJob" if {
	input.cluster.podGroups.served == false
}

else := "the webhook does not route this object, because not all of its pods run at once" if _runs_in_turns

# The pods that follow would wait for others that have ended.
_runs_in_turns if input.object.job.spec.completions > input.workload.pods.minimum

# METADATA
# title: Whether the pods name a PodGroup of Kubernetes
names_a_native_group if {
	some pod_set in input.podSets
	pod_set.schedulingGroup
}

# METADATA
# title: Objects that Volcano needs in the cluster
# description: Pods that name Volcano wait forever without its controllers and the queue.
needs_of_volcano := [
	{
		"group": "apiextensions.k8s.io",
		"kind": "CustomResourceDefinition",
		"name": "podgroups.scheduling.volcano.sh",
	},
	{"group": "scheduling.volcano.sh", "kind": "Queue", "name": input.site.route.queue},
]

# METADATA
# title: Objects that KAI-Scheduler needs in the cluster
needs_of_kai := [
	{
		"group": "apiextensions.k8s.io",
		"kind": "CustomResourceDefinition",
		"name": "queues.scheduling.run.ai",
	},
	{"group": "scheduling.run.ai", "kind": "Queue", "name": input.site.route.queue},
]

_default_scheduler := "default-scheduler"

_by_operator(annotation) := $"the webhook does not route this object, because the configuration of its operator decides about the scheduler; name the queue in the annotation {annotation}"

_of_kubernetes if input.workload.group in ["", "apps", "batch"]

_not_chosen := {"", _default_scheduler} if _of_kubernetes

_not_chosen := {""} if not _of_kubernetes

_names_another_scheduler if {
	some pod_set in input.podSets
	chosen(pod_set)
	pod_set.schedulerName != input.site.route.schedulerName
}

# The pods of a Volcano Job use its scheduler if their template names no scheduler.
_names_another_scheduler if {
	not object.get(volcano.job_spec, "schedulerName", "") in ["", input.site.route.schedulerName]
}

# Every group of a LeaderWorkerSet is a gang of its own.
_groups_of_one if {
	input.workload.kind == "LeaderWorkerSet"
	object.get(input.workload.gang, "minimum", 1) == 1
}

_of_runtime := "the webhook does not route this object, because usher does not know that its runtime makes a PodGroup of Volcano; use a runtime with spec.podGroupPolicy.volcano" if {
	not input.workload.gang.scheduler == "volcano"
}

else := $"the webhook does not route this object, because a TrainJob cannot set schedulerName; set {input.site.route.schedulerName} in every template of its runtime" if {
	some pod_set in input.podSets
	pod_set.schedulerName != input.site.route.schedulerName
}

# Kinds whose pods the pod grouper of KAI-Scheduler counts. Pods of all other kinds start one by one, also those of a
# Job, a StatefulSet or a Deployment (pkg/podgrouper/podgrouper/plugins of NVIDIA/KAI-Scheduler).
_gangs_of_kai := {
	"grove.io": {"PodCliqueSet"},
	"jobset.x-k8s.io": {"JobSet"},
	"kubeflow.org": {"JAXJob", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob"},
	"leaderworkerset.x-k8s.io": {"LeaderWorkerSet"},
	"ray.io": {"RayCluster", "RayJob", "RayService"},
	"trainer.kubeflow.org": {"TrainJob"},
}

# Any scheduler may place the submitter of a Ray job, which asks for no accelerators.
_out_of_reach := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	not pod_set.changeable
	pod_set.schedulerName != input.site.route.schedulerName
]
