# METADATA
# title: Ray nodes have the GPUs and CPUs that Ray Serve asks for
# description: |
#   Ray places a replica of Ray Serve with num_gpus 2 only on a Ray node with 2 GPUs. Two nodes with one GPU each do not
#   hold it, however many there are. Ray then waits for a node that never comes, and the RayService never becomes ready.
#   A model that needs several nodes asks for placement_group_bundles, one for each node.
#
#   The check reads serveConfigV2: num_gpus and placement_group_bundles of deployments, and the parallel sizes of
#   ray.serve.llm. It compares the largest part with the GPUs of each group, num_cpus with their CPUs, and all replicas with all nodes unless Ray
#   scales its nodes itself. What the Python code asks for is not read.
# scope: package
# related_resources:
#   - ref: https://docs.ray.io/en/latest/serve/resource-allocation.html
#     description: Ray on the resources of replicas
#   - ref: https://docs.ray.io/en/latest/serve/advanced-guides/replica-scheduling.html
#     description: Ray on placement groups of replicas
# schemas:
#   - input: schema.input
# custom:
#   code: USH1046
#   about: objects
#   kinds: [rayService]
#   severity: medium
#   why: The replicas never start, and the GPUs of the cluster idle.
#   remediation: |
#     Give a group of Ray nodes as many GPUs as a replica needs. Or ask for less for each replica, or use
#     placement_group_bundles with one bundle for each node.
package usher.checks.serving.ray_replica_without_a_node

import data.usher.lib.amounts
import data.usher.lib.ray
import data.usher.lib.text

deny contains finding if {
	not input.workload.owned
	_known
	some served in _served
	wanted := served.onOneNode / 1000
	wanted > _largest

	finding := {
		"path": "/spec/serveConfigV2",
		"message": $"a replica of {text.excerpt(served.name)} asks for {amounts.number_of(wanted, "GPU", "GPUs")} of one Ray node, but no group has nodes with more than {_largest}, so it never starts",
		"remedy": $"give the pods of a group {amounts.number_of(wanted, "GPU", "GPUs")}, ask for less, or use placement_group_bundles with a bundle for each node",
	}
}

deny contains finding if {
	not input.workload.owned
	_known
	not ray.autoscales
	every served in _served {
		served.onOneNode <= _largest * 1000
	}
	wanted := sum([served.together | some served in _served]) / 1000
	wanted > _all

	finding := {
		"path": "/spec/serveConfigV2",
		"message": $"the replicas of Ray Serve ask for {amounts.number_of(wanted, "GPU", "GPUs")}, but the Ray nodes have only {_all}, so some never start",
		"remedy": "make more Ray nodes, or fewer replicas",
	}
}

deny contains finding if {
	not input.workload.owned
	_known
	some served in _served
	holding := [group |
		some group in ray.groups
		ray.gpus_of_node(group) * 1000 >= served.onOneNode
	]
	count(holding) > 0
	every group in holding {
		ray.cpus_of_node(group) < served.cpus
	}
	most := max([ray.cpus_of_node(group) | some group in holding]) / 1000

	finding := {
		"path": "/spec/serveConfigV2",
		"message": $"a replica of {text.excerpt(served.name)} asks for {served.cpus / 1000} CPUs beside its GPUs of one Ray node, but nodes with these GPUs have only {most}, so it never starts",
		"remedy": $"set num_cpus to {most} or less, or give the pods of the group more CPUs",
	}
}

_served := object.get(input.object.rayService, ["spec", "serveConfigV2"], [])

# The GPUs of each node of a group, with the number of nodes. An upgrade makes a second cluster, for which the replicas
# of the first one do not count.
_nodes := [{"gpus": gpus, "number": ray.pod_sets(group)[0].pods.minimum} |
	some group in ray.groups
	gpus := ray.gpus_of_node(group)
]

_known if count(_nodes) == count(ray.groups)

_largest := max([node.gpus | some node in _nodes])

_all := sum([gpus |
	some node in _nodes
	gpus := node.gpus * node.number
])
