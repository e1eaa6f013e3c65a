# METADATA
# title: HAMi places pods that ask for memory or cores of a GPU
# description: |
#   Nodes do not offer nvidia.com/gpumem, nvidia.com/gpumem-percentage, nvidia.com/gpucores and the like: only HAMi's
#   scheduler counts them. HAMi's webhook gives it the pods that ask for them and that name no scheduler. It passes over
#   pods that name another one, and over pods and namespaces with the label hami.io/webhook: ignore. Their scheduler then
#   finds no node that offers the memory or the cores, and they wait for ever. If usher knows the nodes, the check also
#   reports pods in a cluster where HAMi has registered no node.
# scope: package
# related_resources:
#   - ref: https://github.com/Project-HAMi/HAMi/blob/master/pkg/scheduler/webhook.go
#     description: HAMi on the pods that its webhook changes
#   - ref: https://github.com/Project-HAMi/HAMi/issues/1429
#     description: HAMi on a pod with shares and the default scheduler
# schemas:
#   - input: schema.input
# custom:
#   code: USH811
#   about: accelerator pods
#   severity: medium
#   why: The pods wait for a resource that no node offers.
#   closes: [B43]
#   parameters:
#     schedulers:
#       default: [hami-scheduler]
#       description: Schedulers that count the memory and the cores of shares.
#   remediation: |
#     Remove schedulerName and the label hami.io/webhook, so that HAMi's webhook gives the pods to its scheduler, or set
#     schedulerName to hami-scheduler.
package usher.checks.sharing.hami_share_without_its_scheduler

import data.usher.lib.mig
import data.usher.lib.parameters
import data.usher.lib.sharing
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	not pod_set.schedulerName in _schedulers
	some reason in [_reason(pod_set)]

	# One finding for a pod, about the first container and name.
	asked := sort([[index, name] |
		some index, container in pod_set.containers
		some name, _ in container.accelerators
		sharing.counted_by_hami(name)
	])
	[index, name] := asked[0]

	finding := {
		"path": mig.path(pod_set.containers[index], name),
		"message": $"{workload.pod_set_name(pod_set)} asks for {name}, which only HAMi's scheduler counts, but {reason.text}",
		"remedy": reason.remedy,
	}
}

_schedulers := parameters.sharing.hami_share_without_its_scheduler.schedulers

# The API server writes default-scheduler where a pod names no scheduler, and HAMi's webhook replaces it.
_names_another(pod_set) if not pod_set.schedulerName in ["", "default-scheduler"]

_opted_out(pod_set) := "label" if pod_set.labels["hami.io/webhook"] == "ignore"

else := "label of the namespace" if {
	pod_set.schedulerName in ["", "default-scheduler"]
	input.cluster.hami.ignored
}

_reason(pod_set) := {
	"text": $"{text.excerpt(pod_set.schedulerName)} places the pod",
	"remedy": "remove schedulerName, or set it to hami-scheduler",
} if {
	_names_another(pod_set)
} else := {
	"text": $"the {label} hami.io/webhook: ignore keeps HAMi's webhook away, so the default scheduler places the pod",
	"remedy": "remove the label, or set schedulerName to hami-scheduler",
} if {
	label := _opted_out(pod_set)
} else := {
	"text": "HAMi has registered no node, so no scheduler places the pod",
	"remedy": "install HAMi's device plugin and label the nodes for it (gpu=on), or ask for whole GPUs",
} if {
	input.cluster.hami.registered == false
}
