# METADATA
# title: Parallelism of model servers
# description: Model servers, with the GPUs that they have and the GPUs that they need.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.parallelism

import data.usher.lib.amounts
import data.usher.lib.gpus
import data.usher.lib.workload

# METADATA
# title: Model servers with a known number of GPUs
# description: |
#   Servers in one pod, servers that span the groups of a LeaderWorkerSet or the pods of a unit, and the pods of an
#   LLMInferenceService, each with the sizes of one pod. `has` says for a message who has the GPUs.
#   For a server that may use the GPUs of its own pod only, `spans` is false.
servers := array.concat(array.concat(_of_pods, _of_groups), _of_units)

_of_pods := [entry |
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	parallelism := container.parallelism
	_judged_by_pod(parallelism)
	not parallelism.spans
	number := _gpus_of(pod_set, container)
	number > 0

	entry := {
		"podSet": pod_set,
		"container": container,
		"parallelism": parallelism,
		"gpus": number,
		"spans": true,
		"has": "has",
	}
]

# Data parallel servers of one group may be several servers, so only the tensor and pipeline sizes count here.
_of_groups := [entry |
	not input.workload.owned
	input.workload.kind == "LeaderWorkerSet"
	[leader, number] := _group
	some container in leader.containers
	parallelism := container.parallelism
	parallelism.data == 1
	not parallelism.ownPod

	entry := {
		"podSet": leader,
		"container": container,
		"parallelism": parallelism,
		"gpus": number,
		"spans": _spans(parallelism, gpus.of_container(leader, container)),
		"has": "its group has",
	}
]

# Without flags of its own a server uses its pod, if that has enough GPUs, or else all pods of its unit. Data parallel
# servers of one unit may be several servers.
_of_units := [entry |
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	parallelism := container.parallelism
	not parallelism.ownPod
	own := gpus.of_container(pod_set, container)
	number := _gpus_of_unit(pod_set.unit)
	alone := _uses_its_pod(parallelism, own, number)
	_counts_in_unit(parallelism, alone)

	entry := {
		"podSet": pod_set,
		"container": container,
		"parallelism": parallelism,
		"gpus": {true: own, false: number}[alone],
		"spans": true,
		"has": _who_has(alone, own, number),
	}
]

_who_has(true, _, _) := "has"

_who_has(false, own, all) := "has" if own == all

_who_has(false, own, all) := "its group has" if own != all

_uses_its_pod(parallelism, own, all) if {
	not parallelism.spans
	parallelism.gpus <= own
	all > 0
}

default _uses_its_pod(_, _, _) := false

_counts_in_unit(_, true)

_counts_in_unit(parallelism, false) if parallelism.data == 1

# Undefined where the GPUs of a member are not known.
_gpus_of_unit(unit) := sum(numbers) if {
	members := [pod_set | some pod_set in workload.accelerator_pod_sets; pod_set.unit.name == unit.name]
	numbers := [number | some pod_set in members; number := _gpus(pod_set) * pod_set.unit.pods]
	count(numbers) == count(members)
}

# The leader of a group, and the GPUs of the leader and its workers together.
_group := [leader, _gpus(leader) + (_gpus(worker) * (worker.pods.minimum / leader.pods.minimum))] if {
	some leader in input.podSets
	leader.name == "leader"
	leader.pods.minimum > 0
	some worker in input.podSets
	worker.name == "worker"
}

_gpus(pod_set) := sum(numbers) if {
	asking := [container | some container in pod_set.containers; container.asksAccelerators]
	numbers := [gpus.of_container(pod_set, container) | some container in asking]
	count(numbers) == count(asking)
	count(numbers) > 0
}

_spans(parallelism, own) if parallelism.gpus > own

default _spans(_, _) := false

_spans(parallelism, own) if {
	parallelism.spans
	own > 0
}

_judged_by_pod(parallelism) if parallelism.ownPod

_judged_by_pod(parallelism) if {
	not parallelism.ownPod
	_in_one_pod
}

_in_one_pod if input.workload.group in ["", "apps", "batch", "serving.knative.dev"]

_in_one_pod if {
	input.workload.group == "argoproj.io"
	input.workload.kind == "Rollout"
}

_in_one_pod if input.workload.kind == "LLMInferenceService"

_in_one_pod if {
	input.object.inferenceService
	not input.object.inferenceService.spec.predictor.workerSpec
}

# METADATA
# title: The parallel sizes of a server, for a message
sizes(entry) := concat(", ", [text |
	some name in ["tensor", "pipeline", "data"]
	size := entry.parallelism[name]
	_matters(name, size)
	text := $"{_local(name, entry.parallelism)}{name} parallel size {size}{_nodes(name, entry.parallelism)}"
])

_local(name, parallelism) := "local " if {
	name == "data"
	parallelism.ownPod
} else := ""

_nodes(name, parallelism) := $" on {parallelism.nodes} nodes" if {
	name == "tensor"
	parallelism.nodes > 1
} else := ""

# METADATA
# title: Whether KServe's preset for one pod starts the server
of_one_pod(entry) if entry.parallelism.server == "KServe's preset for one pod"

# METADATA
# title: What usher assumes about a server
# description: Empty for a server whose sizes are in its own command.
assumption(entry) := {} if not of_one_pod(entry)

assumption(entry) := {"assumption": "usher assumes a KServe that passes the tensor size to the server of one pod (kserve/kserve#5782, July 2026)"} if {
	of_one_pod(entry)
}

# METADATA
# title: What makes the GPUs of a server and of its container equal
remedy(entry) := $"ask for {_needed(entry)}, or set the tensor parallel size to the GPUs of the {_holder[entry.has]}" if {
	not _has_other_sizes(entry)
}

_holder := {"has": "container", "its group has": "group"}

remedy(entry) := $"ask for {_needed(entry)}, or change a parallel size" if _has_other_sizes(entry)

_needed(entry) := $"{amounts.number_of(entry.parallelism.gpus, "GPU", "GPUs")}{_in[entry.has]}"

_in := {"has": "", "its group has": " in the group"}

_has_other_sizes(entry) if (entry.parallelism.pipeline * entry.parallelism.data) * entry.parallelism.nodes > 1

_gpus_of(pod_set, container) := gpus.of_container(pod_set, container)

# HAMi gives each share of a container on a GPU of its own.
_gpus_of(_, container) := amounts.effective(container.accelerators["nvidia.com/gpu"]).value if {
	names := object.keys(container.accelerators)
	count(names & _of_hami) > 0
	count(names - (_of_hami | {"nvidia.com/gpu"})) == 0
}

_of_hami := {"nvidia.com/gpucores", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage"}

_matters("tensor", _)

_matters(name, size) if {
	name != "tensor"
	size > 1
}
