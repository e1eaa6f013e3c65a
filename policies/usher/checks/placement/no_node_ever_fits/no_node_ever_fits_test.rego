package usher.checks.placement.no_node_ever_fits_test

import data.examples.checks.placement.no_node_ever_fits as examples
import data.usher.checks.placement.no_node_ever_fits as check
import data.usher.lib.nodes

found(path, pods, missing, remedy) := {
	"path": path,
	"message": $"{pods} fits no node of the cluster, even if the node is empty: {missing}",
	"remedy": remedy,
}

unsure := {"assumption": "usher assumes that no autoscaler adds nodes of another kind, because usher.yaml declares no pool for these pods"}

test_more_than_the_largest_node_has_is_found if {
	check.deny == {found(
		"/spec/containers/0/resources/limits/nvidia.com~1gpu", "the pod",
		"the closest match is pool h100; one pod asks for 16 of nvidia.com/gpu, and one node has at most 8",
		"ask for at most 8 of nvidia.com/gpu per pod, and run more pods",
	)} with input as examples.bad_pod_of_sixteen
}

test_claims_are_compared_with_the_devices_of_each_node if {
	remedy := "ask for devices that one node has together; `usher queue` shows what each node lacks"
	check.deny == {found(
		"/spec/resourceClaims", "the pod",
		"the closest match is node gpu-0; ResourceClaimTemplate ml-research/three-gpus asks for 3 gpu.nvidia.com, and it has 2",
		remedy,
	)} with input as examples.bad_claim
	check.deny == {found(
		"/spec/resourceClaims", "the pod",
		"the closest match is node gpu-0; a selector of gpu.nvidia.com fails on device gpu-0 of gpu-0: the map lacks the key profile",
		remedy,
	)} with input as examples.bad_selector
	check.deny == set() with input as examples.good_claim
	check.unknown == set() with input as examples.good_claim
}

test_every_pod_set_and_every_resource_counts if {
	path := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/cpu"
	check.deny == {found(
		path, "Worker",
		"the closest match is pool h100; one pod asks for 128 of cpu, and one node has at most 96",
		"ask for at most 96 of cpu per pod, and run more pods",
	)} with input as examples.bad_pytorchjob
}

test_a_pool_that_scales_from_zero_is_held_to_what_usher_yaml_says_of_it if {
	check.deny == {found(
		"/spec/containers/0/resources/limits/memory", "the pod",
		"the closest match is pool l40s; one pod asks for 600Gi of memory, and one node has at most 512Gi",
		"ask for at most 512Gi of memory per pod, and run more pods",
	)} with input as examples.bad_memory_of_the_pool
	check.deny == set() with input as examples.good_pool_without_nodes
}

test_a_label_value_that_no_node_has_is_told_with_those_that_there_are if {
	check.deny == {found(
		"/spec/nodeSelector", "the pod",
		"the closest match is pool h100; no node has label topology.kubernetes.io/zone=c (values in use: a, b)",
		"select labels that nodes have",
	)} with input as examples.bad_zone
}

test_a_label_that_no_node_has_at_all_and_one_of_other_nodes_are_told_as_such if {
	labels := [
		{"wants": "gpu-type=h100", "there": [], "elsewhere": false},
		{"wants": "team=research", "there": ["research"], "elsewhere": true},
	]
	document := json.patch(examples.bad_zone, [{"op": "replace", "path": "/cluster/nodes/pods//nearest/labels", "value": labels}])
	check.deny == {found(
		"/spec/nodeSelector", "the pod",
		"the closest match is pool h100; no node has label gpu-type=h100; only other nodes have label team=research",
		"select labels that nodes have",
	)} with input as document
}

test_a_taint_of_nodes_that_no_pool_declares_is_found_with_doubt if {
	check.deny == {object.union(
		found(
			"/spec/tolerations", "the pod",
			"the closest match is nodes like research-0; the pods do not tolerate the taint dedicated=research:NoSchedule",
			"tolerate dedicated=research:NoSchedule",
		),
		unsure,
	)} with input as examples.bad_dedicated
}

test_a_template_that_cannot_be_changed_may_be_given_tolerations_later if {
	document := json.patch(examples.bad_dedicated, [{"op": "replace", "path": "/podSets/0/changeable", "value": false}])
	assumptions := {finding.assumption | some finding in check.deny} with input as document
	assumptions == {"the webhook adds tolerations to the pods; it cannot edit this template"}
}

test_tolerations_that_come_later_are_no_doubt_where_no_taint_is_in_the_way if {
	document := json.patch(examples.bad_zone, [{"op": "replace", "path": "/podSets/0/changeable", "value": false}])
	doubted := [object.get(finding, "assumption", "none") | some finding in check.deny] with input as document
	doubted == ["none"]
}

test_slices_that_boards_could_hold_are_told_so if {
	check.deny == {found(
		"/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb", "the pod",
		"the closest match is pool h100; one pod asks for 2 of nvidia.com/mig-3g.40gb, and no node there offers it (MIG can divide the H100-80 GPUs of pool h100: 2 x 3g.40gb fit on 1 of 8)",
		"divide the GPUs in this way, or ask for slices that nodes have",
	)} with input as examples.bad_slices
}

test_a_node_that_is_not_there_is_found if {
	check.deny == {found(
		"/spec/nodeName", "the pod",
		"no node is named gpu-7",
		"ask for no more than one node has, or declare the intended pool in usher.yaml with scalesFromZero",
	)} with input as examples.bad_named_node
}

nearest_to(document, nearest) := json.patch(
	document,
	[{"op": "replace", "path": "/cluster/nodes/pods//nearest", "value": object.union(nothing_missing, nearest)}],
)

nothing_missing := {"shortages": [], "taints": [], "labels": [], "nowhere": false}

ask_for_less := "ask for no more than one node has, or declare the intended pool in usher.yaml with scalesFromZero"

test_a_cluster_without_nodes_holds_nothing if {
	check.deny == {found(
		"/spec", "the pod",
		"the cluster has no nodes, and no pool of usher.yaml scales from zero",
		ask_for_less,
	)} with input as nearest_to(examples.bad_pod_of_sixteen, {})
}

test_a_named_node_that_is_there_is_not_told_to_be_missing if {
	shortage := {"resource": "nvidia.com/gpu", "asked": "16", "most": "8"}
	document := nearest_to(examples.bad_named_node, {"place": "node gpu-0", "shortages": [shortage]})
	check.deny == {found(
		"/spec", "the pod",
		"the closest match is node gpu-0; one pod asks for 16 of nvidia.com/gpu, and one node has at most 8",
		"ask for at most 8 of nvidia.com/gpu per pod, and run more pods",
	)} with input as document
}

test_what_no_node_has_at_all_is_not_asked_for_in_smaller_amounts if {
	shortage := {"resource": "rdma/ib", "asked": "1", "most": ""}
	document := nearest_to(examples.bad_pod_of_sixteen, {"place": "pool h100", "shortages": [shortage]})
	check.deny == {found(
		"/spec", "the pod",
		"the closest match is pool h100; one pod asks for 1 of rdma/ib, and no node there offers it",
		"run the device plugin that offers rdma/ib on nodes with the device, or declare the pool that has it in usher.yaml with scalesFromZero",
	)} with input as document
}

test_devices_of_the_same_vendor_are_named_in_place_of_those_that_no_node_has if {
	shortage := {"resource": "gpu.intel.com/i915", "asked": "1", "most": "", "instead": "gpu.intel.com/xe"}
	document := nearest_to(examples.bad_pod_of_sixteen, {"place": "node arc-01", "shortages": [shortage]})
	check.deny == {found(
		"/spec", "the pod",
		"the closest match is node arc-01; one pod asks for 1 of gpu.intel.com/i915, and nodes there offer gpu.intel.com/xe in its place",
		"ask for gpu.intel.com/xe, if the program can use it, or add nodes with gpu.intel.com/i915",
	)} with input as document
}

test_a_remedy_for_one_obstacle_is_given_only_where_it_is_the_only_one if {
	shortage := {"shortages": [{"resource": "cpu", "asked": "128", "most": "96"}]}
	taint := {"taints": ["a=b:NoSchedule"]}
	label := {"labels": [{"wants": "team=research", "there": ["research"], "elsewhere": true}]}
	nowhere := {"nowhere": true}
	node := {"node": "gpu-9"}
	every case in [
		{"path": "/spec", "obstacles": [shortage, taint]},
		{"path": "/spec", "obstacles": [shortage, label]},
		{"path": "/spec", "obstacles": [shortage, nowhere]},
		{"path": "/spec/nodeSelector", "obstacles": [taint, label]},
		{"path": "/spec/nodeSelector", "obstacles": [taint, nowhere]},
		{"path": "/spec/nodeSelector", "obstacles": [label, node]},
	] {
		document := nearest_to(examples.bad_zone, object.union_n(array.concat([{"place": "pool h100"}], case.obstacles)))
		told := {[finding.path, finding.remedy] | some finding in check.deny} with input as document
		told == {[case.path, ask_for_less]}
	}
}

test_several_obstacles_are_all_told if {
	nearest := {
		"place": "pool h100",
		"shortages": [
			{"resource": "cpu", "asked": "128", "most": "96"},
			{"resource": "rdma/ib", "asked": "1", "most": ""},
		],
		"taints": ["a=b:NoSchedule"],
		"labels": [],
		"nowhere": true,
		"node": "gpu-9",
	}
	document := json.patch(examples.bad_zone, [{"op": "replace", "path": "/cluster/nodes/pods//nearest", "value": nearest}])
	parts := [
		"the closest match is pool h100",
		"one pod asks for 128 of cpu, and one node has at most 96",
		"one pod asks for 1 of rdma/ib, and no node there offers it",
		"the pods do not tolerate the taint a=b:NoSchedule",
		"its required node affinity matches no node",
		"no node there is named gpu-9",
	]
	check.deny == {found(
		"/spec", "the pod", concat("; ", parts),
		"ask for no more than one node has, or declare the intended pool in usher.yaml with scalesFromZero",
	)} with input as document
}

test_what_is_not_known_is_said_to_be_unknown if {
	verdict := {"verdict": "unknown", "declared": true, "reason": "it claims devices"}
	document := json.patch(examples.bad_zone, [{"op": "replace", "path": "/cluster/nodes/pods/", "value": verdict}])
	check.deny == set() with input as document
	check.unknown == {{"path": "/spec", "reason": "usher does not know whether any node can hold the pod: it claims devices"}} with input as document
}

test_pods_that_fit_are_good if {
	check.deny == set() with input as examples.good_pod_of_eight
	check.unknown == set() with input as examples.good_pod_of_eight
}

test_a_cordoned_node_is_not_held_against_pods if {
	check.deny == set() with input as examples.good_cordoned
}

test_a_toleration_that_another_check_asks_for_is_left_to_it if {
	check.deny == set() with input as examples.good_job_without_toleration
}

with_verdict(document, verdict) := json.patch(
	document,
	[
		{"op": "replace", "path": "/cluster/nodes/pods//verdict", "value": verdict},
		{"op": "add", "path": "/cluster/nodes/pods//reason", "value": "nobody says why"},
	],
)

test_only_what_never_fits_is_found if {
	fits := with_verdict(examples.bad_pod_of_sixteen, "fits")
	check.deny == set() with input as fits
	check.unknown == set() with input as fits
	not_known := with_verdict(examples.bad_pod_of_sixteen, "unknown")
	check.deny == set() with input as not_known
	check.unknown == {{
		"path": "/spec",
		"reason": "usher does not know whether any node can hold the pod: nobody says why",
	}} with input as not_known
}

test_a_label_that_karpenter_does_not_know_is_explained if {
	labels := [{"wants": "nvidia.com/gpu.product=NVIDIA-L4", "there": [], "elsewhere": false, "undefined": true}]
	document := json.patch(examples.bad_zone, [{"op": "replace", "path": "/cluster/nodes/pods//nearest/labels", "value": labels}])
	some finding in check.deny with input as document
	endswith(finding.message, "Karpenter knows no value of the label in nvidia.com/gpu.product=NVIDIA-L4 before a node has it, so it adds no node")
	finding.remedy == "select labels that the NodePool sets, or set this one in its template"
}

test_nodes_that_only_a_taint_closes_are_named if {
	check.deny == {found(
		"/spec/containers/0/resources/limits/nvidia.com~1gpu", "the pod",
		"the closest match is nodes like small-0; one pod asks for 6 of nvidia.com/gpu, and one node has at most 4. Only the taint team=vision:NoSchedule keeps them off nodes like vision-0",
		"tolerate team=vision:NoSchedule, if these nodes are for the pods, or ask for what other nodes have",
	)} with input as examples.bad_closed_by_a_taint
}

test_a_larger_disk_is_a_matter_of_the_node_class if {
	shortage := {"resource": "ephemeral-storage", "asked": "100Gi", "most": "17Gi", "path": "/spec"}
	of_karpenter := nearest_to(examples.bad_pod_of_sixteen, {"place": "NodePool gpu (p5.48xlarge)", "shortages": [shortage]})
	{finding.remedy | some finding in check.deny} == {nodes.larger_disk} with input as of_karpenter
	declared := nearest_to(examples.bad_pod_of_sixteen, {"place": "pool h100", "shortages": [shortage]})
	less := "ask for at most 17Gi of ephemeral-storage per pod, and run more pods"
	{finding.remedy | some finding in check.deny} == {less} with input as declared
	others := json.patch(of_karpenter, [{"op": "add", "path": "/cluster/nodes/pods//nearest/taints", "value": ["a=b:NoSchedule"]}])
	{finding.remedy | some finding in check.deny} == {ask_for_less} with input as others
}

test_pools_without_known_nodes_are_an_assumption if {
	missing := {"place": "NodePool small", "labels": [{"wants": "zone=a", "there": []}]}
	document := json.patch(
		nearest_to(examples.bad_pod_of_sixteen, missing),
		[{"op": "add", "path": "/cluster/nodes/pods//poolsAlone", "value": true}],
	)
	{[finding.message, finding.assumption] | some finding in check.deny} == {[
		"the pod fits no node that the known pools of autoscalers add, even if the node is empty: the closest match is NodePool small; no node there gets label zone=a",
		"usher assumes that the pods run on nodes of these pools, because it knows no other nodes",
	]} with input as document
}
