# METADATA
# title: Devices are asked for by containers
# description: |
#   What a pod asks for as a whole (`spec.resources`) is cpu, memory and huge pages, and nothing else. An API server that
#   knows the field, as it does from Kubernetes 1.34 on, refuses a pod that names an accelerator or another device there;
#   an older one drops the field without a word, and the pod starts without its GPUs. In the templates of custom
#   resources it is the operator that fails, once it makes the pods.
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
#   why: The pod is refused, or it starts without the devices that it was meant to get.
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
	"message": $"{workload.pod_set_name(pod_set)} asks for {text.excerpt(name)} as a whole, where only cpu, memory and huge pages can stand",
	"remedy": "move it into resources.limits of the container that uses it",
}

_escaped(name) := replace(replace(name, "~", "~0"), "/", "~1")
