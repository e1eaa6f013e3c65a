# METADATA
# title: Accelerators are not for init containers alone
# description: |
#   What an init container asks for is reserved as long as the pod lives. Where no other container asks for accelerators,
#   the device that converted or warmed something up in the first minutes idles from then on, and nobody else gets it.
#   What runs beside the app containers (restartPolicy: Always) is none of these.
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
#   why: A GPU is held idle for the whole life of the pod, after a few minutes of use.
#   closes: [B21]
#   remediation: |
#     Do that step in a Job of its own, before the workload, or ask for the accelerator in the container that goes on
#     using it.
package usher.checks.resources.accelerator_only_in_init_container

import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.asksAccelerators
	not _goes_on(pod_set)

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} asks for accelerators, but nothing that runs after it does, so they idle for the rest of the pod's life",
		"remedy": "do this step in a Job of its own, or ask for them where they are used on",
	}
}

_goes_on(pod_set) if {
	some container in pod_set.containers
	container.asksAccelerators
	container.type != "init container"
}
