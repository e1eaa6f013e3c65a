# METADATA
# title: Accelerators are not only for init containers
# description: |
#   Kubernetes reserves what an init container asks for as long as the pod lives. If no other container asks for
#   accelerators, the device is used in the first minutes only, for example to convert or warm something up. It then
#   idles, and no other pod gets it. An init container with restartPolicy: Always runs beside the app containers, so it
#   counts as one of them.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
#     description: Kubernetes on the effective requests of pods with init containers
# schemas:
#   - input: schema.input
# custom:
#   code: USH113
#   about: accelerator pods
#   severity: medium
#   why: A GPU is used for a few minutes, then idles for the whole life of the pod.
#   closes: [B21]
#   remediation: |
#     Move this step into a Job of its own, before the workload. Or ask for the accelerator in the container that
#     continues to use it.
package usher.checks.resources.accelerator_only_in_init_container

import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	some pod_set in workload.accelerator_pod_sets
	not _goes_on(pod_set)
	some container in pod_set.containers
	container.asksAccelerators

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} asks for accelerators, but no later container does, so they idle for the rest of the pod's life",
		"remedy": "move this step into a Job of its own, or ask for them in the container that continues to use them",
	}
}

_goes_on(pod_set) if {
	some container in pod_set.containers
	container.asksAccelerators
	container.type != "init container"
}
