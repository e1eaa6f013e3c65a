package usher.checks.objects.accelerator_node_changed_by_tenant_test

import data.examples.checks.objects.accelerator_node_changed_by_tenant as examples
import data.usher.checks.objects.accelerator_node_changed_by_tenant as check

remedy := "let an administrator make the change, or add the user to the identities of usher.yaml"

labels(what) := {
	"path": "/metadata/labels",
	"message": $"a user who is not an administrator or a controller changes labels of the node: {what}",
	"remedy": remedy,
}

taints := {
	"path": "/spec/taints",
	"message": "a user who is not an administrator or a controller changes taints of an accelerator node",
	"remedy": remedy,
}

without(fields) := json.remove(examples.bad_taints, [path |
	some node in ["/object/node", "/old/object/node"]
	some field in fields
	path := $"{node}/{field}"
])

test_a_label_that_changes_comes_or_goes_is_found if {
	check.deny == {labels("nvidia.com/gpu.deploy.driver, nvidia.com/gpu.product, nvidia.com/mig.config")} with input as examples.bad_labels
}

test_of_many_labels_three_are_named if {
	check.deny == {labels("nvidia.com/gpu.count, nvidia.com/gpu.family, nvidia.com/gpu.memory and 1 more")} with input as examples.bad_new_labels
}

test_a_taint_that_is_taken_away_is_found if {
	check.deny == {taints} with input as examples.bad_taints
	check.deny == {taints} with input as without(["metadata"])
	check.deny == {taints} with input as without(["status"])
}

test_the_taints_of_other_nodes_are_left_alone if {
	check.deny == set() with input as without(["metadata", "status"])
}

test_a_node_whose_gpus_are_gone_is_like_others if {
	none := [{"op": "replace", "path": "/old/object/node/status/capacity/nvidia.com~1gpu/value", "value": 0}]
	check.deny == set() with input as json.patch(without(["metadata"]), none)
}

test_what_is_no_label_or_taint_of_accelerators_may_change if {
	check.deny == set() with input as examples.good_cordon
}

test_controllers_and_administrators_may_change_them if {
	check.deny == set() with input as examples.good_kubelet
	check.deny == set() with input as examples.good_administrator
}

test_usher_yaml_may_trust_others if {
	check.deny == set() with input as examples.good_operator
	distrusted := {"site": {"parameters": {"objects/accelerator_node_changed_by_tenant": {"identities": ["administrators"]}}}}
	check.deny == {labels("nvidia.com/gpu.product")} with input as object.union(examples.good_operator, distrusted)
}

test_a_new_node_changes_nothing if {
	check.deny == set() with input as object.union(examples.bad_labels, {"review": {"operation": "CREATE"}})
	check.deny == set() with input as json.remove(examples.bad_labels, ["/old"])
}

test_where_nobody_asks_nothing_is_judged if {
	check.deny == set() with input as json.remove(examples.bad_labels, ["/review"])
}
