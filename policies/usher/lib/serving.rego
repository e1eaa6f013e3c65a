# METADATA
# title: Serving
# description: Workloads that answer requests, and their settings.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.serving

import data.usher.lib.parameters

# METADATA
# title: Whether the workload answers requests
# description: False for objects that a controller made, because usher judges their owner.
serves if {
	input.workload.role in ["inference", "service"]
	not input.workload.owned
}

# METADATA
# title: Model servers
# description: |
#   Containers that hold accelerators as long as their pod runs, with their pod sets, in workloads that answer requests.
model_servers := [entry |
	serves
	some pod_set in input.podSets
	some container in pod_set.containers
	container.asksAccelerators
	container.type == "container"
	entry := {"podSet": pod_set, "container": container}
]

# METADATA
# title: Model servers that download their model
# description: |
#   Their commands name a model of a hub. Without pods that run already, servers that are offline, and containers with
#   variables from objects that usher does not know.
downloading_servers := [entry |
	some entry in model_servers
	not entry.podSet.placed
	entry.container.parallelism.model.hub
	not _offline(entry.container)
	not _unknown_variables(entry.container)
]

_offline(container) if {
	some name in ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
	not object.get(container.environment[name], "value", "1") in ["", "0"]
}

_unknown_variables(container) if {
	some source in container.environmentSources
	not source.variables
}

# METADATA
# title: Seconds until a probe gives up
# description: |
#   The time until a liveness or a startup probe kills the container. Kubernetes uses its default for 0 and for a
#   missing number. The first probe comes after the delay.
seconds_until_failure(probe) := object.get(probe, "initialDelaySeconds", 0) + (period * failures) if {
	period := _or_default(object.get(probe, "periodSeconds", 0), 10)
	failures := _or_default(object.get(probe, "failureThreshold", 0), 3)
}

# METADATA
# title: Seconds that the weights of a model take to load, with words about the weights
# description: Undefined where the command does not name the size of the model.
loading(container) := {
	"seconds": ceil((size.gigabytes * 1000) / parameters.serving.killed_while_loading.megabytesPerSecond),
	"weights": $"{_at_least(size)}{size.gigabytes} GB of weights ({size.name} with {size.bits} bits)",
	"assumption": $"usher assumes that weights load at {parameters.serving.killed_while_loading.megabytesPerSecond} MB per second, a parameter of killed-while-loading",
} if {
	size := container.parallelism.model
}

_at_least(size) := "at least " if size.experts

_at_least(size) := "" if not size.experts

_or_default(number, _) := number if number > 0

_or_default(number, default_number) := default_number if number <= 0

# METADATA
# title: Whether KServe merges a container with a runtime or a preset
# description: A field that seems to be missing may then be set in the runtime or the preset.
merged(path) if {
	input.workload.kind == "InferenceService"
	not contains(path, "/containers/")
}

merged(_) if startswith(input.workload.kind, "LLMInferenceService")

# METADATA
# title: Mode of KServe
# description: Knative, Standard or ModelMesh. Empty if the configuration of KServe decides; its default is Knative.
kserve_mode := _modes[_named_mode]

_modes := {
	"": "",
	"Knative": "Knative",
	"Serverless": "Knative",
	"Standard": "Standard",
	"RawDeployment": "Standard",
	"ModelMesh": "ModelMesh",
}

_named_mode := mode if {
	mode := input.object.inferenceService.status.deploymentMode
	mode != ""
} else := object.get(input.workload.annotations, "serving.kserve.io/deploymentMode", "")

# METADATA
# title: Whether Knative runs the pods
on_knative if input.workload.group == "serving.knative.dev"

on_knative if {
	input.object.inferenceService
	kserve_mode == "Knative"
}

on_knative if may_be_on_knative

# METADATA
# title: Whether Knative runs the pods unless KServe is configured otherwise
# description: A model that spans several nodes never runs on Knative.
may_be_on_knative if {
	input.object.inferenceService
	kserve_mode == ""
	not input.object.inferenceService.spec.predictor.workerSpec
}

# METADATA
# title: Whether a label or a taint means spot nodes
# description: |
#   `keys` are the keys that clouds put on nodes that they may take back. The values spot, true, preemptible and the
#   empty text mean spot nodes. Other values mean nodes that stay.
means_spot(keys, key, value) if {
	key in keys
	lower(value) in ["spot", "true", "preemptible", ""]
}
