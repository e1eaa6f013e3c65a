# METADATA
# title: Nodes have whole GPUs of known memory for the fractions of KAI-Scheduler
# description: |
#   KAI-Scheduler does not divide the slices of a GPU further. On nodes with the MIG strategy single it places whole
#   requests for nvidia.com/gpu, and with mixed only requests for nvidia.com/mig-*. A pod with the annotation
#   gpu-fraction or gpu-memory that selects nodes with MIG waits. If KAI-Scheduler does not notice that the node is
#   divided, the pod starts and sees no GPU. The check reads the nodes that the pod selects, and the pools where it may
#   run.
#
#   For gpu-memory it needs the label nvidia.com/gpu.memory of the node. GPU feature discovery does not set it where the
#   driver does not tell the memory, for example on GPUs that share the memory of their node (GB10). If no node that the
#   pod selects has the label, the pod waits for ever.
# scope: package
# related_resources:
#   - ref: https://github.com/kai-scheduler/KAI-Scheduler/issues/506
#     description: KAI-Scheduler on fractions and MIG
#   - ref: https://github.com/kai-scheduler/KAI-Scheduler/issues/706
#     description: A report about gpu-memory on a node without the label
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/pkg/scheduler/api/node_info/node_info.go
#     description: KAI-Scheduler on the pods of divided nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH815
#   about: accelerator pods
#   severity: medium
#   why: The pod waits for ever, or starts without a GPU.
#   closes: [S15]
#   remediation: |
#     Ask for a slice (nvidia.com/mig-*), or select nodes whose GPUs are whole. Without the label nvidia.com/gpu.memory, use
#     gpu-fraction.
package usher.checks.sharing.fraction_on_divided_nodes

import data.usher.lib.kai
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	kai.places_pods
	some pod_set in workload.accelerator_pod_sets
	some request in pod_set.requests
	request.route == "fraction annotation"
	divided := _divided(pod_set)

	finding := {
		"path": request.path,
		"message": $"{workload.pod_set_name(pod_set)} asks for a part of a GPU by {request.name}, but {divided}, and KAI-Scheduler divides whole GPUs only",
		"remedy": "ask for a slice (nvidia.com/mig-*), or select nodes whose GPUs are whole",
	}
}

deny contains finding if {
	kai.places_pods
	some pod_set in workload.accelerator_pod_sets
	node := input.cluster.unmeasured[pod_set.path]
	some request in pod_set.requests
	request.route == "fraction annotation"

	finding := {
		"path": request.path,
		"message": $"{workload.pod_set_name(pod_set)} asks for memory of a GPU by {request.name}, but no node with GPUs that it selects has the label nvidia.com/gpu.memory (for example {text.excerpt(node)}), so KAI-Scheduler never places it",
		"remedy": "ask for gpu-fraction, or have the nodes labelled with the memory of their GPUs in MiB",
	}
}

_divided(pod_set) := $"it selects {label}: {text.excerpt(pod_set.nodeSelector[label])}" if {
	label := min([label | some label, value in pod_set.nodeSelector; _says_divided(label, value)])
} else := $"{_may(pod_set, pools)} the pool {pools[0]}, which is divided by MIG" if {
	pools := sort({fit.pool |
		some fit in pod_set.fits
		some label, value in fit.labels
		_says_divided(label, value)
	})
	count(pools) > 0
} else := $"it may also run on nodes with nvidia.com/gpu.product: {text.excerpt(product)}" if {
	product := input.cluster.fractions[pod_set.path]
}

_may(pod_set, pools) := "it can only run in" if count(pod_set.fits) == count(pools)

_may(pod_set, pools) := "it may also run in" if count(pod_set.fits) > count(pools)

_says_divided("nvidia.com/gpu.product", value) if contains(value, "-MIG-")

_says_divided("nvidia.com/mig.config", value) if regex.match(`^all-([0-9]+g\.|balanced)`, value)

_says_divided("node-role.kubernetes.io/mig-enabled", "true")
