# METADATA
# title: Device claims name existing DeviceClasses
# description: |
#   The API server accepts a claim of any class. The scheduler finds no device for a class that does not exist, and the pods
#   wait. Drivers make their classes when they are installed: the class of whole GPUs is missing, for example, where the
#   driver of NVIDIA runs for ComputeDomains alone (`resources.gpus.enabled: false`). Somebody may apply the class a moment
#   later, so the check only warns unless usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on device classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH338
#   about: cluster facts
#   severity: medium
#   why: No node can ever hold the pods, and the claim stays pending without an error.
#   remediation: Name a class of the cluster, or install the driver that makes it with its GPUs switched on.
package usher.checks.placement.device_class_not_there

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	some request in pod_set.requests
	request.route == "device claim"
	input.cluster.deviceClasses[request.name] == false

	# Another class of the same claim may serve the pods.
	every other in pod_set.requests { _is_missing(other, request.path) }

	finding := {
		"path": request.path,
		"message": $"{workload.pod_set_name(pod_set)} claims a device of class {text.excerpt(request.name)}, which does not exist, so no node can hold the pods",
		"remedy": "name a class that `kubectl get deviceclasses` lists, or install the driver that makes it",
	}
}

_is_missing(request, path) if request.path != path

_is_missing(request, path) if {
	request.path == path
	input.cluster.deviceClasses[request.name] == false
}
