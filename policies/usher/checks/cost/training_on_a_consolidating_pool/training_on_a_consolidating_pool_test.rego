package usher.checks.cost.training_on_a_consolidating_pool_test

import data.examples.checks.cost.training_on_a_consolidating_pool as examples
import data.usher.checks.cost.training_on_a_consolidating_pool as check

found(path, pods) := {{
	"path": path,
	"message": $`NodePool "gpu" consolidates its nodes, so Karpenter may stop {pods} during the training`,
	"remedy": `set the annotation karpenter.sh/do-not-disrupt: "true", or let the NodePool consolidate WhenEmpty`,
}}

test_training_that_karpenter_may_move_is_found if {
	worker := "/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations"
	check.deny == found(worker, "the pods of Worker") with input as examples.bad_pytorchjob
	check.deny == found(worker, "the pods of Worker") with input as examples.bad_pytorchjob_that_allows_it
	check.deny == found("/spec/template/metadata/annotations", "the pod") with input as examples.bad_job
}

test_protected_pods_and_pools_that_remove_only_empty_nodes_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_pytorchjob_on_a_calm_pool
}

test_batch_work_that_karpenter_may_move_is_found if {
	batch := json.patch(examples.bad_job, [{"op": "replace", "path": "/workload/role", "value": "batch"}])
	some finding in check.deny with input as batch
	endswith(finding.message, "so Karpenter may stop the pod during its work")
	served := json.patch(examples.bad_job, [{"op": "replace", "path": "/workload/role", "value": "serving"}])
	check.deny == set() with input as served
}

test_training_on_nodes_that_expire_is_found if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations",
		"message": `NodePool "daily" replaces each node "24h" after its start, so Karpenter may stop the pods of Worker during the training`,
		"remedy": `set the annotation karpenter.sh/do-not-disrupt: "true", or set expireAfter of the NodePool to Never`,
	}} with input as examples.bad_pytorchjob_on_nodes_that_expire
}

test_an_annotation_does_not_protect_longer_than_the_pool_waits if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations",
		"message": `NodePool "renewed" replaces each node "48h" after its start and ends its pods "1h" later, so karpenter.sh/do-not-disrupt does not keep the pods of Worker longer`,
		"remedy": "set expireAfter of the NodePool to Never, or leave out its terminationGracePeriod",
	}} with input as examples.bad_pytorchjob_that_ends_with_its_node
}

test_a_pool_whose_taint_pods_only_tolerate_is_an_assumption if {
	paths := [path | some path, _ in examples.bad_job.cluster.nodePools.consolidating]
	tolerating := object.union(examples.bad_job, {"cluster": {"nodePools": {"tolerating": paths}}})
	{finding.assumption | some finding in check.deny} == {"usher assumes that no other nodes offer these devices"} with input as tolerating
}
