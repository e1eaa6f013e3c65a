# METADATA
# title: Volcano
# description: Settings of a workload for Volcano.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.volcano

# METADATA
# title: Annotation of a template that names the PodGroup of its pods
group_annotation := "scheduling.k8s.io/group-name"

# METADATA
# title: Annotation that names a queue
queue_annotation := "scheduling.volcano.sh/queue-name"

# METADATA
# title: Annotation of an owner with the number of pods that start together
min_member_annotation := "scheduling.volcano.sh/group-min-member"

# METADATA
# title: Number of pods that start together
# description: |
#   Only if Volcano reads the annotation, which it does not if the pods name their own PodGroup. Volcano ignores every
#   value that is not a whole number of 32 bits.
min_member := number if {
	input.workload.kind in ["Job", "Deployment", "StatefulSet", "ReplicaSet"]
	input.workload.group in ["batch", "apps"]
	value := input.workload.annotations[min_member_annotation]
	trim(value, "0123456789") == ""
	number := to_number(value)
	number < 2147483648
	not _named_group
}

_named_group if {
	some pod_set in input.podSets
	object.get(pod_set.annotations, group_annotation, "") != ""
}

# METADATA
# title: Whether Kubernetes makes the pods of a StatefulSet in order
# description: Then no pod starts if Volcano waits for several pods.
makes_pods_in_order if {
	object.get(input.object.statefulSet, ["spec", "podManagementPolicy"], "OrderedReady") != "Parallel"
}

# METADATA
# title: Whether Volcano places any of the pods that ask for accelerators
places_pods if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.volcanoSchedulers
	pod_set.asksAccelerators
}

# METADATA
# title: The spec of a Volcano Job, or of the Jobs that a CronJob or a JobFlow makes
job_spec := input.object.volcanoJob.spec

job_spec := input.object.volcanoJobTemplate.spec

job_spec := input.object.volcanoCronJob.spec.jobTemplate.spec

# METADATA
# title: Path of that spec
job_spec_path := "/spec" if not input.object.volcanoCronJob

job_spec_path := "/spec/jobTemplate/spec" if input.object.volcanoCronJob

# METADATA
# title: Pods of all tasks together
replicas := sum([object.get(task, "replicas", 0) | some task in job_spec.tasks])

# METADATA
# title: Pods that start together, from the Job's own field
# description: Undefined for 0, because Volcano reads 0 as not set.
named_minimum := job_spec.minAvailable if job_spec.minAvailable > 0

# METADATA
# title: Pods of a task that start together
task_minimum(task) := object.get(task, "minAvailable", object.get(task, "replicas", 0))

# METADATA
# title: Pods that start together
minimum := named_minimum

minimum := sum([task_minimum(task) | some task in job_spec.tasks]) if not named_minimum

# METADATA
# title: PodGroups that the workload names
# description: Of Volcano, of Kubernetes itself, and of the coscheduling plugin, each with the scheduler that reads it.
groups := array.concat(
	[object.union({"of": "Volcano", "field": "minMember"}, group) | some group in input.cluster.volcano.groups],
	object.get(input, ["cluster", "podGroups", "named"], []),
)

# METADATA
# title: Assumption about a queue
# description: Joined to a finding.
assumption(queue) := {"assumption": queue.assumption}

assumption(queue) := {} if not queue.assumption

# METADATA
# title: Assumption about the queues above a queue
with_hierarchy := "usher assumes that the plugin capacity of Volcano's scheduler has enableHierarchy"

# METADATA
# title: Assumption about a queue that is too small
# description: Joined to a finding.
assumption_of_shortage(_, shortage) := {"assumption": with_hierarchy} if shortage.isAbove

assumption_of_shortage(queue, shortage) := object.union(
	assumption(queue),
	object.filter(shortage, {"assumption"}),
) if {
	not shortage.isAbove
}
