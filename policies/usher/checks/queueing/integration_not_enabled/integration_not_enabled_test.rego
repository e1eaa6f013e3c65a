package usher.checks.queueing.integration_not_enabled_test

import data.examples.checks.queueing.integration_not_enabled as examples
import data.usher.checks.queueing.integration_not_enabled as check

path := "/metadata/labels/kueue.x-k8s.io~1queue-name"

found(framework, kind) := {{
	"path": path,
	"message": $"Kueue does not queue this {kind} in research, because its configuration does not enable {framework}",
	"remedy": $"ask the administrators of the cluster to enable {framework} in Kueue, or use a kind that Kueue queues",
}}

undeclared(document) := json.remove(document, ["/site/parameters"])

test_kinds_that_are_not_listed_are_found if {
	check.deny == found("kubeflow.org/tfjob", "TFJob") with input as examples.bad_tfjob
	check.deny == found("sparkoperator.k8s.io/sparkapplication", "SparkApplication") with input as examples.bad_sparkapplication
	check.deny == found("deployment", "Deployment") with input as examples.bad_deployment
	check.unknown == set() with input as examples.bad_tfjob
}

test_kinds_that_are_listed_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.unknown == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_pod
}

test_without_a_list_the_kinds_that_are_off_by_default_are_unknown if {
	reason := "usher does not know whether Kueue queues TFJobs: Kueue's default configuration does not enable kubeflow.org/tfjob; set the parameter frameworks to your list"
	check.deny == set() with input as undeclared(examples.bad_tfjob)
	check.unknown == {{"path": path, "reason": reason}} with input as undeclared(examples.bad_tfjob)
	check.unknown == set() with input as undeclared(examples.bad_deployment)
}

test_every_kind_that_is_off_by_default_is_unknown if {
	every kind in ["JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"] {
		count(check.unknown) == 1 with input as undeclared(object.union(examples.bad_tfjob, {"workload": {"kind": kind}}))
	}
	count(check.unknown) == 1 with input as undeclared(examples.bad_sparkapplication)
}

listed(document, frameworks) := json.patch(
	undeclared(document),
	[{"op": "add", "path": "/cluster", "value": {"kueue": {"configurationKnown": true, "frameworks": frameworks}}}],
)

test_the_list_is_read_from_the_cluster if {
	check.deny == found("kubeflow.org/tfjob", "TFJob") with input as listed(examples.bad_tfjob, ["batch/job"])
	check.unknown == set() with input as listed(examples.bad_tfjob, ["batch/job"])
	check.deny == set() with input as listed(examples.bad_tfjob, ["kubeflow.org/tfjob"])
	check.unknown == set() with input as listed(examples.bad_tfjob, ["kubeflow.org/tfjob"])
}

test_what_usher_yaml_says_counts_before_the_cluster if {
	cluster := [{"op": "add", "path": "/cluster", "value": {"kueue": {"configurationKnown": true, "frameworks": []}}}]
	check.deny == set() with input as json.patch(examples.good_pytorchjob, cluster)
}

test_what_names_no_queue_is_left_alone if {
	check.deny == set() with input as examples.good_tfjob_without_a_queue
	check.unknown == set() with input as undeclared(examples.good_tfjob_without_a_queue)
}

test_what_a_controller_made_is_left_alone if {
	owned := object.union(examples.bad_tfjob, {"workload": {"owned": true}})
	check.deny == set() with input as owned
	check.unknown == set() with input as undeclared(owned)
}

test_kinds_that_come_to_kueue_by_other_ways_are_left_alone if {
	check.deny == set() with input as examples.good_hyperpod_job
	check.deny == set() with input as examples.good_taskrun
	elsewhere := object.union(examples.bad_deployment, {"workload": {"group": "example.com"}})
	check.deny == set() with input as elsewhere
}

test_a_stateful_set_goes_by_its_kind_alone if {
	stateful := object.union(examples.bad_deployment, {"workload": {"kind": "StatefulSet"}})
	check.deny == found("statefulset", "StatefulSet") with input as stateful
}
