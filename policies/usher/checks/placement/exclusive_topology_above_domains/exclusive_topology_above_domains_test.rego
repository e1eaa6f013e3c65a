package usher.checks.placement.exclusive_topology_above_domains_test

import data.examples.checks.placement.exclusive_topology_above_domains as examples
import data.usher.checks.placement.exclusive_topology_above_domains as check

found(annotation, message, remedy) := {{
	"path": $"/metadata/annotations/{annotation}",
	"message": message,
	"remedy": remedy,
	"assumption": "usher assumes that no node with another value is added",
}}

few := `each of 3 groups wants a value of the label "rack" for itself, but the nodes that could hold its pods have 2, and 1 node has no label of this name`

test_more_groups_than_domains_are_found if {
	check.deny == found("alpha.jobset.sigs.k8s.io~1exclusive-topology", few, "run at most 2, or label more nodes") with input as examples.bad_jobset
	check.deny == found("leaderworkerset.sigs.k8s.io~1exclusive-topology", few, "run at most 2, or label more nodes") with input as examples.bad_leader_worker_set
}

test_a_label_of_no_node_is_found if {
	none := `each of 2 groups wants a value of the label "cloud.example.com/slice" for itself, but no node that could hold its pods has the label`
	check.deny == found("alpha.jobset.sigs.k8s.io~1exclusive-topology", none, "label the nodes, or name a label that they have") with input as examples.bad_jobset_of_an_absent_label
}

test_a_domain_for_each_group_is_good if {
	check.deny == set() with input as examples.good_jobset
	check.deny == set() with input as examples.good_leader_worker_set
	check.deny == set() with input as examples.good_jobset_without_the_annotation
}

test_nodes_without_the_label_are_mentioned_only_where_there_are_any if {
	all_labelled := json.patch(examples.bad_jobset, [{"op": "replace", "path": "/cluster/nodes/domains/lacking", "value": 0}])
	message := `each of 3 groups wants a value of the label "rack" for itself, but the nodes that could hold its pods have 2`
	check.deny == found("alpha.jobset.sigs.k8s.io~1exclusive-topology", message, "run at most 2, or label more nodes") with input as all_labelled
}
