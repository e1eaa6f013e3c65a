package usher.mutations.priority.termination_grace_test

import data.examples.mutations.priority.termination_grace as examples
import data.usher.mutations.priority.termination_grace as mutation

grace(at, value) := {
	"at": at,
	"field": "gracePeriod",
	"value": value,
	"reason": "usher.yaml gives these pods time to write a checkpoint before they stop",
}

hook(at) := {
	"at": at,
	"field": "preStop",
	"value": {"command": ["/bin/sh", "-c", "kill -USR1 1; sleep 300"]},
	"reason": "usher.yaml has this container told to write a checkpoint before it stops",
}

of_job := {grace("/spec/template", {"seconds": 600, "instead": 30}), hook("/spec/template/spec/containers/0")}

skipped(at, reason) := {{"at": at, "reason": reason}}

worker := "/spec/pytorchReplicaSpecs/Worker/template"

test_pods_with_accelerators_get_time_and_a_hook if {
	mutation.intents == {grace(worker, {"seconds": 600}), hook($"{worker}/spec/containers/0")} with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_the_default_that_the_api_server_wrote_is_nobodys_choice if {
	mutation.intents == of_job with input as examples.before_job_with_the_default
}

test_a_custom_resource_says_thirty_seconds_on_purpose if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_with_thirty_seconds
	mutation.skips == skipped(worker, "the author chose a grace period of 30 seconds") | skipped(worker, "its grace period of 30 seconds would end before the hook") with input as examples.untouched_pytorchjob_with_thirty_seconds
}

test_a_time_of_the_author_stays if {
	mutation.intents == {hook("/spec/template/spec/containers/0")} with input as examples.before_job_with_a_longer_time
	mutation.skips == skipped("/spec/template", "the author chose a grace period of 900 seconds") with input as examples.before_job_with_a_longer_time
}

test_a_hook_that_waits_as_long_as_the_pod_may_is_not_added if {
	document := json.patch(examples.before_job_with_a_longer_time, [{"op": "replace", "path": "/podSets/0/terminationGracePeriodSeconds", "value": 300}])
	mutation.intents == set() with input as document
	longer := json.patch(document, [{"op": "replace", "path": "/podSets/0/terminationGracePeriodSeconds", "value": 301}])
	mutation.intents == {hook("/spec/template/spec/containers/0")} with input as longer
}

test_a_time_of_zero_is_a_choice if {
	document := json.patch(examples.before_job_with_a_longer_time, [{"op": "replace", "path": "/podSets/0/terminationGracePeriodSeconds", "value": 0}])
	mutation.intents == set() with input as document
}

test_pods_of_spot_machines_keep_the_default if {
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/podSets/0/nodeSelector", "value": {"cloud.google.com/gke-spot": "true"}}])
	not grace(worker, {"seconds": 600}) in mutation.intents with input as document
	skipped(worker, "its nodes are spot machines, which a cloud takes back sooner") & mutation.skips != set() with input as document
}

test_the_maximum_of_leaves_too_late_is_the_ceiling if {
	values := {"priority/leaves_too_late": {"maximumSeconds": 400}}
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/site/parameters", "value": values}])
	mutation.intents == {grace(worker, {"seconds": 400}), hook($"{worker}/spec/containers/0")} with input as document
}

test_a_ceiling_at_the_default_leaves_the_default if {
	values := {"priority/leaves_too_late": {"maximumSeconds": 30}}
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/site/parameters", "value": values}])
	mutation.intents == set() with input as document
	mutation.skips == skipped(worker, "the parameter maximumSeconds of leaves-too-late allows no more than the default") | skipped(worker, "its grace period of 30 seconds would end before the hook") with input as document
}

test_a_hook_waits_no_longer_than_leaves_too_late_allows if {
	values := {"priority/leaves_too_late": {"maximumSleepSeconds": 299}}
	document := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/site/parameters", "value": values}])
	mutation.intents == {grace(worker, {"seconds": 600})} with input as document
	mutation.skips == skipped(worker, "the parameter maximumSleepSeconds of leaves-too-late does not allow the hook to wait that long") with input as document
}

shared := skipped("/spec/template", "process 1 of its containers is not the program, because they share their processes")

test_no_signal_goes_to_another_process if {
	mutation.intents == {grace("/spec/template", {"seconds": 600, "instead": 30})} with input as examples.before_job_that_shares_its_processes
	mutation.skips == shared with input as examples.before_job_that_shares_its_processes
}

test_no_signal_goes_to_the_node if {
	document := json.patch(examples.before_job_that_shares_its_processes, [
		{"op": "remove", "path": "/podSets/0/shareProcessNamespace"},
		{"op": "add", "path": "/podSets/0/hostPID", "value": true},
	])
	mutation.skips == shared with input as document
}

by_another := "process 1 of its containers is not the program, because sshd or Ray starts it"

test_no_signal_goes_to_sshd_or_ray if {
	by_sshd := json.patch(examples.before_job_with_the_default, [{"op": "replace", "path": "/podSets/0/ranksInheritEnvironment", "value": false}])
	mutation.intents == {grace("/spec/template", {"seconds": 600, "instead": 30})} with input as by_sshd
	mutation.skips == skipped("/spec/template", by_another) with input as by_sshd
	by_ray := json.patch(examples.before_job_with_the_default, [{"op": "replace", "path": "/workload/group", "value": "ray.io"}, {"op": "remove", "path": "/podSets/0/terminationGracePeriodSeconds"}])
	mutation.skips[{"at": "/spec/template", "reason": by_another}] with input as by_ray
}

test_a_command_needs_no_process_of_its_own if {
	document := json.remove(examples.before_job_that_shares_its_processes, ["/site/lifecycle/signals"])
	mutation.intents == of_job with input as document
}

test_a_site_may_set_the_hook_alone if {
	document := json.remove(examples.before_job_with_a_longer_time, ["/site/lifecycle/grace"])
	mutation.intents == {hook("/spec/template/spec/containers/0")} with input as document
	mutation.skips == skipped("/spec/template", "lifecycle of usher.yaml gives these pods no grace period") with input as document
}

test_a_site_may_set_the_time_alone if {
	document := json.remove(examples.before_pytorchjob, ["/site/lifecycle/preStop", "/site/lifecycle/preStopWait"])
	mutation.intents == {grace(worker, {"seconds": 600})} with input as document
	mutation.skips == skipped(worker, "lifecycle of usher.yaml gives these containers no preStop hook") with input as document
}

test_a_hook_of_the_author_stays if {
	mutation.intents == set() with input as examples.untouched_job_that_stops_its_own_way
}

test_only_containers_of_the_run_with_accelerators_get_the_hook if {
	idle := json.patch(examples.before_job_with_a_longer_time, [{"op": "replace", "path": "/podSets/0/containers/0/asksAccelerators", "value": false}])
	mutation.intents == set() with input as idle
	first := json.patch(examples.before_job_with_a_longer_time, [{"op": "replace", "path": "/podSets/0/containers/0/type", "value": "initContainer"}])
	mutation.intents == set() with input as first
}

test_a_template_whose_changes_reach_no_pod_stays if {
	document := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/changeable", "value": false}])
	mutation.intents == set() with input as document
	mutation.skips == skipped(worker, "a change to this template would not reach its pods") with input as document
}

test_a_workflow_writes_its_pods_itself if {
	mutation.skips == skipped("", "the controller of Workflow writes or restricts this part of its pods") with input as examples.untouched_workflow
	mutation.intents == set() with input as examples.untouched_workflow
}

test_the_owner_has_the_values if {
	mutation.intents == set() with input as examples.untouched_job_of_a_jobset
	mutation.skips == skipped("", "a controller made this object, and its owner has the values") with input as examples.untouched_job_of_a_jobset
}

test_without_an_entry_of_usher_yaml_nothing_is_set if {
	mutation.intents == set() with input as examples.untouched_deployment
	mutation.skips == skipped("", "lifecycle of usher.yaml gives these pods neither a grace period nor a hook") with input as examples.untouched_deployment
}
