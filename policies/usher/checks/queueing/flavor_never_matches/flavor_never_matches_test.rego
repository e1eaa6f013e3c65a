package usher.checks.queueing.flavor_never_matches_test

import data.examples.checks.queueing.flavor_never_matches as examples
import data.usher.checks.queueing.flavor_never_matches as check

elsewhere := "use queue open, which could admit it"

found(path, queue, pods, reasons) := {
	"path": path,
	"message": $"no flavor of ClusterQueue {queue} matches {pods} for nvidia.com/gpu: {reasons}",
	"remedy": elsewhere,
}

taint := "its taint nvidia.com/gpu=present:NoSchedule is not tolerated"

test_taints_that_are_not_tolerated_are_found if {
	check.deny == {found(
		"/spec/template",
		"research-queue",
		"the pod",
		$"a100: {taint}; h100: {taint}",
	)} with input as examples.bad_job
}

test_labels_that_do_not_agree_are_found if {
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template",
		"research-queue",
		"Worker",
		"a100: its nodes have nvidia.com/gpu.product=A100; h100: its nodes have nvidia.com/gpu.product=H100",
	)} with input as examples.bad_pytorchjob
}

test_without_another_queue_none_is_named if {
	some finding in check.deny with input as examples.bad_pod
	finding == {
		"path": "",
		"message": "no flavor of ClusterQueue open-queue matches the pod for nvidia.com/gpu: open: its nodes have pool=open",
		"remedy": "tolerate the taints and remove selectors that contradict the labels of a flavor, or use another queue",
	}
}

test_what_rests_on_placing_by_topology_is_assumed if {
	of_racks := found(
		"",
		"racks-queue",
		"the pod",
		$"racks: it takes only pods that ask to be placed by topology; a100: {taint}",
	)
	assumption := {"assumption": "usher assumes that Kueue places pods by topology, the default since version 0.14"}
	check.deny == {object.union(of_racks, assumption)} with input as examples.bad_pod_without_topology
}

test_a_level_that_is_not_there_is_for_another_check if {
	level := {"op": "add", "path": "/cluster/kueue/queue/clusterQueue/verdict/unmatched/0/flavors/0/level", "value": "rack"}
	check.deny == set() with input as json.patch(examples.bad_job, [level])
}

test_pods_that_a_flavor_takes_are_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_job_of_a_flavor_that_tolerates
}

test_labels_that_no_flavor_declares_do_not_matter if {
	check.deny == set() with input as examples.good_pod_of_an_undeclared_label
}

test_pods_that_the_nodes_of_one_domain_never_hold_are_found if {
	check.deny == {{
		"path": "/spec/template",
		"message": "no flavor of ClusterQueue hosts-queue matches the pod for nvidia.com/gpu: hosts: its nodes hold at most 4 of the 5 pods in one kubernetes.io/hostname",
		"remedy": "ask for fewer or smaller pods, or for a wider level of the topology, or use another queue",
		"assumption": "usher assumes that Kueue places pods by topology, the default since version 0.14",
	}} with input as examples.bad_job_in_one_host
	check.deny == set() with input as examples.good_job_in_one_host
}

test_nodes_that_kueue_leaves_out_for_a_missing_label_are_named if {
	check.deny == {{
		"path": "/spec/template",
		"message": "no flavor of ClusterQueue blocks-queue matches the pod for nvidia.com/gpu: blocks: its nodes hold at most 0 of the 2 pods in one example.com/block, because node block-0 lacks the label example.com/block of the Topology",
		"remedy": "label these nodes with example.com/block",
		"assumption": "usher assumes that Kueue places pods by topology, the default since version 0.14",
	}} with input as examples.bad_job_of_unlabelled_nodes
}
