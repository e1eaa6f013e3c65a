package usher.checks.priority.training_with_inference_class_test

import data.examples.checks.priority.training_with_inference_class as examples
import data.usher.checks.priority.training_with_inference_class as check

found(path, message) := {{
	"path": path,
	"message": message,
	"remedy": "name a class for training, or set the label gpu-usher.io/role to what the workload is",
}}

test_a_class_for_inference_on_training_is_found if {
	check.deny == found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/priorityClassName",
		`Worker trains in priority class "inference-critical", which is for inference`,
	) with input as examples.bad_pytorchjob
	check.deny == found(
		"/metadata/labels/kueue.x-k8s.io~1priority-class",
		`the workload trains in the queue class "production-inference", which is for inference`,
	) with input as examples.bad_jobset
}

test_a_site_has_names_of_its_own if {
	check.deny == found(
		"/spec/priorityClassName",
		`worker trains in priority class "gold", which is for inference`,
	) with input as examples.bad_volcano_job
}

test_other_classes_are_good if {
	check.deny == set() with input as examples.good_jobset
}

test_pods_without_accelerators_do_not_matter if {
	check.deny == set() with input as examples.good_pytorchjob_on_gold
}

test_what_does_not_train_may_have_them if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_pytorchjob_that_infers
	batch := object.union(examples.bad_jobset, {"workload": {"role": "batch"}})
	check.deny == set() with input as batch
}

test_a_class_that_usher_yaml_declares_is_good if {
	of_pods := {"site": {"priority": {"priorityClass": "inference-critical"}}}
	check.deny == set() with input as object.union(examples.bad_pytorchjob, of_pods)
	of_queue := {"site": {"queue": {"localQueue": "research", "priorityClass": "production-inference"}}}
	check.deny == set() with input as object.union(examples.bad_jobset, of_queue)
}
