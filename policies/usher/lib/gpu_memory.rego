# METADATA
# title: Memory of GPUs
# description: |
#   The memory of the boards on which pods may run, from labels of nodes. Sizes are those in the data sheets of vendors and
#   clouds. A name that stands for boards of several sizes is not here.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.gpu_memory

import data.usher.lib.pools

# METADATA
# title: Gigabytes of the smallest and of the largest GPU on which the pods may run
# description: Undefined where a pool or the selector does not tell.
of_pods(pod_set) := {"least": min(sizes), "most": max(sizes)} if {
	sizes := [_of_labels(labels) | some labels in _places(pod_set)]
	count(sizes) == count(_places(pod_set))
	count(sizes) > 0
}

_places(pod_set) := [object.union(fit.labels, pod_set.nodeSelector) | some fit in pools.fits(pod_set)] if {
	count(pools.fits(pod_set)) > 0
} else := [pod_set.nodeSelector]

_of_labels(labels) := _boards[_name(labels[key])] if {
	key := [key | some key in _keys; labels[key]][0]
} else := _types[_family(labels)]

# NVIDIA's label is more exact than those of clouds.
_keys := [
	"nvidia.com/gpu.product",
	"cloud.google.com/gke-accelerator",
	"k8s.amazonaws.com/accelerator",
	"karpenter.k8s.aws/instance-gpu-name",
]

_name(value) := trim_prefix(trim_prefix(trim_prefix(lower(value), "nvidia-"), "tesla-"), "geforce-")

_boards := {
	"a10": 24,
	"a100-40gb": 40,
	"a100-80gb": 80,
	"a100-80gb-pcie": 80,
	"a100-pcie-40gb": 40,
	"a100-sxm4-40gb": 40,
	"a100-sxm4-80gb": 80,
	"a10g": 24,
	"a16": 16,
	"a2": 16,
	"a30": 24,
	"a40": 48,
	"b200": 180,
	"h100-80gb": 80,
	"h100-80gb-hbm3": 80,
	"h100-mega-80gb": 80,
	"h100-nvl": 94,
	"h100-pcie": 80,
	"h200": 141,
	"h200-141gb": 141,
	"l4": 24,
	"l40": 48,
	"l40s": 48,
	"p100": 16,
	"p4": 8,
	"rtx-3090": 24,
	"rtx-4090": 24,
	"rtx-6000-ada-generation": 48,
	"rtx-a6000": 48,
	"t4": 16,
	"v100-sxm2-16gb": 16,
	"v100-sxm2-32gb": 32,
}

_family(labels) := split(split(labels[key], ".")[0], "-")[0] if {
	key := [key | some key in ["node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family"]; labels[key]][0]
}

# Families of machine types of AWS and of GCP whose machines have one board.
_types := {
	"g2": 24,
	"g4dn": 16,
	"g5": 24,
	"g6": 24,
	"g6e": 48,
	"p4d": 40,
	"p4de": 80,
	"p5": 80,
	"p5e": 141,
	"p5en": 141,
}
