# METADATA
# title: Parallelism of model servers
# description: Model servers, with the GPUs that they have and the GPUs that they need.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.parallelism

import data.usher.lib.gpus
import data.usher.lib.workload

# METADATA
# title: Model servers with a known number of GPUs
# description: Only servers in one pod. In groups of pods the sizes count the GPUs of several pods.
servers := [entry |
	not input.workload.owned
	_in_one_pod
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	parallelism := container.parallelism
	number := gpus.of_container(pod_set, container)
	number > 0

	entry := {"podSet": pod_set, "container": container, "parallelism": parallelism, "gpus": number}
]

_in_one_pod if input.workload.group in {"", "apps", "batch", "serving.knative.dev"}

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
	text := $"{name} parallel size {size}"
])

_matters("tensor", _)

_matters(name, size) if {
	name != "tensor"
	size > 1
}
