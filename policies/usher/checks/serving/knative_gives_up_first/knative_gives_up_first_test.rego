package usher.checks.serving.knative_gives_up_first_test

import data.examples.checks.serving.knative_gives_up_first as examples
import data.usher.checks.serving.knative_gives_up_first as check

test_a_probe_that_waits_longer_than_knative_is_found if {
	check.deny == {{"path": "/spec/template/spec/containers/0/startupProbe", "message": "the startup probe gives container server 1800 seconds to load, but Knative gives the revision up after 900 seconds", "remedy": "set the annotation serving.knative.dev/progress-deadline to more than 1800s"}} with input as examples.bad_annotation
	check.deny == {{"path": "/spec/template/spec/containers/0/startupProbe", "message": "the startup probe gives container server 1800 seconds to load, but Knative gives the revision up after 600 seconds", "remedy": "set the annotation serving.knative.dev/progress-deadline to more than 1800s", "assumption": "usher assumes that Knative has its default progress deadline of 600 seconds, and that Knative runs the pods"}} with input as examples.bad_default
	check.deny == {{"path": "/spec/predictor/containers/0/startupProbe", "message": "the startup probe gives container kserve-container of predictor 1200 seconds to load, but Knative gives the revision up after 600 seconds", "remedy": "set the annotation serving.knative.dev/progress-deadline to more than 1200s", "assumption": "usher assumes that Knative runs the pods, as it does by KServe's default"}} with input as examples.bad_inference_service
	check.deny == {{"path": "/spec/template/spec/containers/0/startupProbe", "message": "the startup probe gives container server 1800 seconds to load, but Knative gives the revision up after 1200 seconds", "remedy": "set the annotation serving.knative.dev/progress-deadline to more than 1800s"}} with input as examples.bad_minutes
}

test_a_deadline_after_the_probe_is_good if {
	check.deny == set() with input as examples.good_annotation
	check.deny == set() with input as examples.good_on_standard
	check.deny == set() with input as examples.good_short_probe
}

test_a_readiness_probe_that_begins_too_late_is_found if {
	check.deny == {{"path": "/spec/template/spec/containers/0/readinessProbe/initialDelaySeconds", "message": "the first readiness probe of container server comes after 1200 seconds, but Knative gives the revision up after 600 seconds", "remedy": "set initialDelaySeconds to 0, and the annotation serving.knative.dev/progress-deadline to more than the model takes to load", "assumption": "usher assumes that Knative has its default progress deadline of 600 seconds, and that Knative runs the pods"}} with input as examples.bad_delay
}
