# METADATA
# title: Containers ask for devices, not the pod as a whole
# description: |
#   A pod as a whole (`spec.resources`) can ask only for cpu, memory and huge pages. An API server that knows the field
#   (Kubernetes 1.34 or later) refuses a pod that names an accelerator or another device there. An older API server
#   drops the field silently, and the pod starts without its GPUs. In the templates of custom resources, the operator
#   fails later, when it makes the pods.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/
#     description: Kubernetes on resources of pods as a whole, and their limitations
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on asking for GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH111
#   about: pods
#   severity: high
#   why: The pod is refused, or it starts without its devices.
#   closes: [B22]
#   remediation: Move the device into `resources.limits` of the container that uses it.
package usher.checks.resources.device_in_pod_resources

import data.usher.lib.text
import data.usher.lib.workload

deny contains _finding(pod_set, "requests", name) if {
	some pod_set in input.podSets
	some name, _ in pod_set.podRequests
	contains(name, "/")
}

deny contains _finding(pod_set, "limits", name) if {
	some pod_set in input.podSets
	some name, _ in pod_set.podLimits
	contains(name, "/")
}

# Only names of devices have a domain before a slash.
_finding(pod_set, list, name) := {
	"path": $"{workload.field_path(pod_set, "resources")}/{list}/{_escaped(name)}",
	"message": $"{workload.pod_set_name(pod_set)} asks for {text.excerpt(name)} in the resources of the whole pod, which allow only cpu, memory and huge pages",
	"remedy": "move it into resources.limits of the container that uses it",
}

_escaped(name) := replace(replace(name, "~", "~0"), "/", "~1")
