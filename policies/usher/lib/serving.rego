# METADATA
# title: Serving
# description: What answers requests, and how it is run.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.serving

# METADATA
# title: Whether the workload answers requests
# description: What a controller made is left to the object that it was made of.
serves if {
	input.workload.role in {"inference", "service"}
	not input.workload.owned
}

# METADATA
# title: Model servers
# description: |
#   Containers that hold accelerators as long as their pod runs, with their pod sets, of workloads that answer requests.
model_servers := [entry |
	serves
	some pod_set in input.podSets
	some container in pod_set.containers
	container.asksAccelerators
	container.type == "container"
	entry := {"podSet": pod_set, "container": container}
]

# METADATA
# title: Seconds until a probe gives up
# description: |
#   For a liveness or a startup probe: until the container is killed. Kubernetes takes 0 for a missing number, and the
#   first probe comes after the delay.
seconds_until_failure(probe) := object.get(probe, "initialDelaySeconds", 0) + (period * failures) if {
	period := _or_default(object.get(probe, "periodSeconds", 0), 10)
	failures := _or_default(object.get(probe, "failureThreshold", 0), 3)
}

_or_default(number, _) := number if number > 0

_or_default(number, default_number) := default_number if number <= 0

# METADATA
# title: Whether KServe merges a container with what stands elsewhere
# description: In a runtime or a preset, so that what seems to be missing may be there.
merged(path) if {
	input.workload.kind == "InferenceService"
	not contains(path, "/containers/")
}

merged(_) if startswith(input.workload.kind, "LLMInferenceService")

# METADATA
# title: Mode of KServe
# description: Knative, Standard or ModelMesh; empty where its configuration decides, which says Knative as it is shipped.
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
# description: Several nodes share a model only in Deployments.
may_be_on_knative if {
	input.object.inferenceService
	kserve_mode == ""
	not input.object.inferenceService.spec.predictor.workerSpec
}

# METADATA
# title: Whether a label or a taint means spot nodes
# description: |
#   `keys` are those that a cloud gives to nodes which it may take back; their other values stand for nodes that stay.
#   Such a key alone, as some taints are, means the same.
means_spot(keys, key, value) if {
	key in keys
	lower(value) in {"spot", "true", "preemptible", ""}
}
