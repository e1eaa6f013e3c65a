package usher.checks.queueing.multikueue_dispatch_test

import data.examples.checks.queueing.multikueue_dispatch as examples
import data.usher.checks.queueing.multikueue_dispatch as check

label := "/metadata/labels/kueue.x-k8s.io~1queue-name"

test_a_kind_without_adapter_is_rejected if {
	check.deny == {{
		"path": label,
		"message": "queue \"worldwide\" sends its workloads to other clusters, and MultiKueue has no adapter for a SparkApplication, so Kueue rejects it",
		"remedy": "use a kind that MultiKueue sends, or a queue of this cluster",
	}} with input as examples.bad_sparkapplication
}

test_a_job_of_another_controller_is_rejected if {
	check.deny == {{
		"path": "/spec/managedBy",
		"message": "queue \"worldwide\" sends its workloads to other clusters, but \"kubernetes.io/job-controller\" manages this Job, so Kueue rejects it",
		"remedy": "create it without managedBy; Kueue sets the field",
	}} with input as examples.bad_job_of_another_controller
}

test_kueue_itself_hands_a_job_over if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_job_of_multikueue
}
