package usher.checks.cost.training_not_protected_from_disruption_test

import data.examples.checks.cost.training_not_protected_from_disruption as examples
import data.usher.checks.cost.training_not_protected_from_disruption as check

remedy := `set the annotation karpenter.sh/do-not-disrupt: "true" or cluster-autoscaler.kubernetes.io/safe-to-evict: "false"`

assumption := "usher assumes that an autoscaler removes nodes of this cluster"

test_only_annotations_of_the_pods_themselves_protect_them if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/metadata/annotations",
		"message": "an autoscaler may stop the pods of Worker during the training to remove a node",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_pytorchjob
}

test_an_annotation_that_allows_disruption_protects_nobody if {
	check.deny == {{
		"path": "/metadata/annotations",
		"message": "an autoscaler may stop the pod during the training to remove a node",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_pod
}

test_pods_without_accelerators_are_soon_started_again if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/metadata/annotations",
		"message": "an autoscaler may stop the pods of Worker during the training to remove a node",
		"remedy": remedy,
		"assumption": assumption,
	}} with input as examples.bad_mpijob
}

test_either_annotation_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_services_may_be_moved if {
	check.deny == set() with input as examples.good_deployment
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as examples.good_pod_of_a_pytorchjob
}
