package usher.lib.placement_test

import data.usher.lib.placement

of_daemon_set := {"kind": "Pod", "owner": {"group": "apps", "kind": "DaemonSet"}}

test_pods_of_system_namespaces_belong_everywhere if {
	placement.belongs_everywhere with input as {"site": {"systemNamespace": true}, "workload": {"kind": "Deployment"}}
	not placement.belongs_everywhere with input as {"site": {"systemNamespace": false}, "workload": {"kind": "Deployment"}}
}

test_daemon_sets_and_their_pods_belong_everywhere if {
	placement.belongs_everywhere with input as {"workload": {"kind": "DaemonSet"}}
	placement.belongs_everywhere with input as {"workload": of_daemon_set}
	not placement.belongs_everywhere with input as {"workload": {"kind": "Pod", "owner": {"group": "apps", "kind": "ReplicaSet"}}}
}

test_an_owner_that_a_user_wrote_does_not_count if {
	placement.belongs_everywhere with input as {"workload": of_daemon_set}
	not placement.belongs_everywhere with input as {"workload": {"kind": "Pod", "claimedOwner": of_daemon_set.owner}}
}

named := {"nodeName": "gpu-3"}

test_a_node_is_named_by_whoever_is_no_scheduler if {
	placement.node_is_named(named) with input as {"site": {"systemNamespace": false}}
	placement.node_is_named(named) with input as {"review": {"operation": "CREATE", "subResource": "", "by": ["research"]}}
	every identity in ["administrators", "controllers", "schedulers"] {
		not placement.node_is_named(named) with input as {"review": {
			"operation": "CREATE",
			"subResource": "",
			"by": [identity],
		}}
	}
}

test_no_node_is_named_where_there_is_none_or_a_scheduler_may_have_chosen_it if {
	not placement.node_is_named({"nodeName": ""}) with input as {"site": {"systemNamespace": false}}
	not placement.node_is_named({"nodeName": "gpu-3", "placed": true}) with input as {"site": {"systemNamespace": false}}
	not placement.node_is_named(named) with input as {"site": {"systemNamespace": true}}
}

test_a_toleration_without_a_key_is_for_every_taint if {
	placement.tolerates_everything({"operator": "Exists"})
	placement.tolerates_everything({"key": "", "operator": "Exists", "effect": ""})
	placement.tolerates_everything({"operator": "Exists", "effect": "NoSchedule"})
	not placement.tolerates_everything({"operator": "Exists", "effect": "NoExecute"})
	not placement.tolerates_everything({"key": "spot", "operator": "Exists"})
	not placement.tolerates_everything({"operator": "Equal"})
	not placement.tolerates_everything({"key": ""})
}

selecting(selector, rest) := object.union({"specPath": "/spec", "nodeSelector": selector}, rest)

test_what_selects_the_nodes_is_pointed_at if {
	placement.selection_path(selecting({"pool": "h100"}, {})) == "/spec/nodeSelector"
	placement.selection_path(selecting({}, {"affinity": {}})) == "/spec/affinity"
	placement.selection_path(selecting({"pool": "h100"}, {"affinity": {}})) == "/spec"
	placement.selection_path(selecting({}, {})) == "/spec"
	placement.selection_path(selecting({"pool": "h100"}, {"places": {"nodeSelector": "/spec/nodes"}})) == "/spec/nodes"
}

test_a_pool_whose_other_taints_are_not_tolerated_is_kept_for_others if {
	taint := {"key": "dedicated", "value": "training", "effect": "NoSchedule"}
	mark := {"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule", "operator": "Exists"}
	kept := {"fits": [{"pool": "a", "untolerated": [mark, taint]}]}
	placement.kept_for_others(kept)
	placement.reserving_taint(kept) == "pool a has the taint dedicated=training:NoSchedule"
	not placement.kept_for_others({"fits": [{"pool": "a", "untolerated": [mark]}]})
	not placement.kept_for_others({"fits": [{"pool": "a", "untolerated": [taint]}, {"pool": "b", "untolerated": []}]})
	not placement.kept_for_others({"fits": []})
	placement.taint_text(mark) == "nvidia.com/gpu:NoSchedule"
}

test_of_unmatched_classes_the_reason_names_them if {
	placement.why_unmatched({"unmatchedClasses": ["a", "b"]}) == "usher does not know which node pools have devices of class a and b; a pool offers a class if its resources in usher.yaml list deviceclass.resource.kubernetes.io/a and deviceclass.resource.kubernetes.io/b"
	not placement.why_unmatched({})
}
