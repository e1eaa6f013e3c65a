# METADATA
# title: Workloads that Kueue refuses
# description: Why Kueue refuses or never admits a workload in a queue, as far as the object alone tells.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.queueable

import data.usher.lib.kubeflow
import data.usher.lib.kueue
import data.usher.lib.workload

# METADATA
# title: Annotation of a job whose number of pods may change while Kueue counts it
elastic_annotation := "kueue.x-k8s.io/elastic-job"

# METADATA
# title: Whether the cluster of a RayJob outlives the job
keeps_its_cluster if {
	spec := input.object.rayJob.spec
	not spec.shutdownAfterJobFinishes
	not kueue.ray_job_selects_its_cluster
}

# METADATA
# title: Whether a Ray cluster scales itself without being an elastic job
scales_itself if {
	kueue.ray_cluster.spec.enableInTreeAutoscaling
	object.get(input.workload.annotations, elastic_annotation, "") != "true"
}

# METADATA
# title: Indexes of the worker groups that are named like Kueue's pod set for the head node
groups_named_head contains index if {
	some index, group in kueue.ray_cluster.spec.workerGroupSpecs
	group.groupName == "head"
}

# METADATA
# title: Names of the ResourceClaims that the pods name directly
# description: Each with its pod set and its index.
direct_claims := [{"podSet": pod_set, "index": index, "name": claim.resourceClaimName} |
	some pod_set in input.podSets
	some index, claim in pod_set.resourceClaims
	claim.resourceClaimName
]

# Kueue refuses the object in any queue, or never admits it.
_refusals contains "the RayJob would keep its cluster and its quota after it finishes; set shutdownAfterJobFinishes: true" if keeps_its_cluster

_refusals contains "the RayJob runs on an existing cluster; label the RayCluster instead" if kueue.ray_job_selects_its_cluster

_refusals contains "its Ray cluster scales itself; set the annotation kueue.x-k8s.io/elastic-job, or turn enableInTreeAutoscaling off" if scales_itself

_refusals contains "a worker group of its Ray cluster is named head; give the group another name" if count(groups_named_head) > 0

_refusals contains "its pods name a ResourceClaim directly, which Kueue cannot count; name a ResourceClaimTemplate" if count(direct_claims) > 0

# METADATA
# title: Why Kueue cannot take the workload into a queue
# description: Each reason begins with a lower-case letter and ends with the remedy. Empty if usher knows no reason.
obstacles contains reason if some reason in _refusals

obstacles contains "an annotation asks for a part of a GPU, which Kueue cannot count; ask for a resource or a device claim" if {
	some pod_set in input.podSets
	some request in pod_set.requests
	request.route == "fraction annotation"
	_reads_fractions(pod_set)
}

# The default scheduler ignores the annotation, and the pods may ask for whole GPUs beside it.
_reads_fractions(pod_set) if not pod_set.schedulerName in ["", "default-scheduler"]

_reads_fractions(_) if "kai" in input.site.gangSchedulers

obstacles contains "it names a queue of KAI-Scheduler; remove the label kai.scheduler/queue to use Kueue" if _in_queue_of_kai

obstacles contains "it names a queue of Volcano; remove it to use Kueue" if _in_queue_of_volcano

obstacles contains $"the template of {_out_of_reach[0]} stands in another object, and a label of the whole {input.workload.kind} would also queue pods without accelerators; set the label in the metadata of that template" if {
	labels_templates
	count(_out_of_reach) > 0
}

obstacles contains "another controller runs it, and the queue gives its jobs to MultiKueue; leave managedBy out" if {
	kueue.could_join_declared_queue
	input.site.queue.multiKueue
	input.workload.managedBy != kueue.multikueue
}

obstacles contains "managedBy gives it to MultiKueue, and usher.yaml does not say multiKueue of the queue; leave managedBy out" if {
	kueue.could_join_declared_queue
	not input.site.queue.multiKueue
	input.workload.managedBy == kueue.multikueue
}

_out_of_reach := [workload.pod_set_name(pod_set) |
	some pod_set in workload.accelerator_pod_sets
	not pod_set.ownMetadataPath
]

# METADATA
# title: Whether only some templates of the workload belong into the queue
# description: Kueue queues the pods of Workflows and PipelineRuns one by one, and many of them need no accelerators.
labels_templates if {
	input.workload.group in ["argoproj.io", "tekton.dev"]
	count(workload.ordinary_pod_sets) > 0
}

# METADATA
# title: Places and fields of a label for Kueue
# description: The object, or each template that asks for accelerators.
places_of_labels := [{"at": pod_set.path, "field": "ownLabel"} | some pod_set in workload.accelerator_pod_sets] if {
	labels_templates
} else := [{"at": "", "field": "kueueLabel"}]

_labels contains labels if {
	some place in array.concat([input.workload], input.podSets)
	labels := place.labels
}

_annotations contains annotations if {
	some place in array.concat([input.workload], input.podSets)
	annotations := place.annotations
}

# Everybody can write the name of a queue. It counts only where usher.yaml sends workloads to that scheduler: otherwise one
# label would get a workload around the queue of usher.yaml. Kueue holds a job back before the other scheduler sees it. It
# also counts where the pods name that scheduler: a second queue would hold them twice.
_in_queue_of_kai if {
	_belongs_to("kai", "kai-scheduler")
	some labels in _labels
	object.get(labels, "kai.scheduler/queue", "") != ""
}

_belongs_to(gang_scheduler, _) if gang_scheduler in input.site.gangSchedulers

_belongs_to(_, name) if {
	some pod_set in input.podSets
	pod_set.schedulerName == name
}

_in_queue_of_volcano if {
	_belongs_to("volcano", "volcano")
	some key in ["scheduling.volcano.sh/queue-name", "volcano.sh/queue-name"]
	some values in (_annotations | _labels)
	object.get(values, key, "") != ""
}

_in_queue_of_volcano if {
	_belongs_to("volcano", "volcano")
	queue := kubeflow.scheduling_policy.queue
	queue != ""
}

# METADATA
# title: Whether the webhook puts the workload into the queue of usher.yaml
joins_declared_queue if {
	kueue.could_join_declared_queue
	count(obstacles) == 0
}

# METADATA
# title: Whether the workload is in a queue after the mutations
# description: True for an object that a controller made, because Kueue queues its owner.
will_be_queued if kueue.in_queue

will_be_queued if joins_declared_queue

# METADATA
# title: Whether Kueue selects the nodes
# description: |
#   The flavors of a queue have node labels. Kueue adds these to the pods when it admits the workload. Kueue does not
#   place a workload that it refuses, that usher.yaml says it leaves out, or that usher does not put into the queue. Of an
#   object that a controller made, usher assumes that its owner is in the queue.
places_pods if {
	kueue.in_queue
	not kueue.declared_left_out
	count(_refusals) == 0
}

places_pods if {
	input.site.queue.placesPods
	joins_declared_queue
}

places_pods if {
	input.site.queue.placesPods
	input.workload.owned
	input.workload.queueLabelPath
}
