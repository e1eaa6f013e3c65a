package usher.checks.gang.kubeflow_queue_in_the_wrong_place_test

import data.examples.checks.gang.kubeflow_queue_in_the_wrong_place as examples
import data.usher.checks.gang.kubeflow_queue_in_the_wrong_place as check

found(kind) := {{
	"path": "/metadata/annotations/scheduling.volcano.sh~1queue-name",
	"message": $`the operator of {kind}s does not read the annotation scheduling.volcano.sh/queue-name, which names queue "research"`,
	"remedy": "name the queue in spec.runPolicy.schedulingPolicy.queue",
}}

test_a_queue_in_the_annotation_alone_is_found if {
	check.deny == found("PyTorchJob") with input as examples.bad_pytorchjob
	check.deny == found("JAXJob") with input as examples.bad_jaxjob
}

test_an_empty_queue_in_the_policy_does_not_count if {
	check.deny == found("TFJob") with input as examples.bad_tfjob
}

test_a_queue_in_the_policy_is_good_and_the_annotation_superfluous if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_job_without_queue_is_good if {
	empty := json.patch(examples.bad_jaxjob, [{
		"op": "replace",
		"path": "/workload/annotations/scheduling.volcano.sh~1queue-name",
		"value": "",
	}])
	check.deny == set() with input as empty
	check.deny == set() with input as examples.good_jaxjob_without_queue
}
