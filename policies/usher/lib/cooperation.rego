# METADATA
# title: Pods that compute together
# description: Workloads whose pods exchange data all the time, over the network between nodes.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.cooperation

import data.usher.lib.workload

# METADATA
# title: Whether the pods exchange data as those of training do
# description: |
#   Training does, models that span several pods do, and so do tests of the network, whose pods start together as a
#   gang. usher does not know it of other batch work.
computes_together if input.workload.role == "training"

computes_together if tests_network

# METADATA
# title: Whether the workload is batch work whose pods wait for each other
# description: By their kind or program. A gang that the webhook forms of other batch work must not change the answer.
tests_network if {
	input.workload.role == "batch"
	input.workload.gang.waits
}

computes_together if spans_pods

# METADATA
# title: Whether one copy of a model spans several pods
# description: |
#   In groups of a LeaderWorkerSet or DisaggregatedSet with a leader and workers, in an LLMInferenceService or
#   InferenceService with workers, in the cluster of a RayService with several accelerator pods, in a component of a
#   DynamoGraphDeployment with several nodes, and in a scaling group of a PodCliqueSet with several accelerator pods.
spans_pods if {
	input.workload.role == "inference"
	_spans_pods
}

_spans_pods if {
	input.workload.kind == "LeaderWorkerSet"
	input.workload.gang.minimum > 1
}

_spans_pods if {
	input.workload.kind in ["DisaggregatedSet", "InferenceService", "LLMInferenceService"]
	some pod_set in workload.accelerator_pod_sets
	regex.match(`(^|[ -])worker$`, pod_set.name)
	pod_set.pods.maximum != 0
}

_spans_pods if {
	input.workload.kind == "RayService"
	_several_accelerator_pods
}

_spans_pods if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.unit.pods > 1
	input.workload.group == "nvidia.com"
}

_spans_pods if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.unit.name != pod_set.name
	sum([each.unit.pods | some each in workload.accelerator_pod_sets; each.unit.name == pod_set.unit.name]) > 1
}

_several_accelerator_pods if count(workload.accelerator_pod_sets) > 1

_several_accelerator_pods if {
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum
}

_several_accelerator_pods if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.pods.maximum > 1
}
