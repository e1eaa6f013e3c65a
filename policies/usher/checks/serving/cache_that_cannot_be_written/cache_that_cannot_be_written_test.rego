package usher.checks.serving.cache_that_cannot_be_written_test

import data.examples.checks.serving.cache_that_cannot_be_written as examples
import data.usher.checks.serving.cache_that_cannot_be_written as check

container := "/spec/template/spec/containers/0"

remedy := "mount a volume that it can write, and set HOME and HF_HOME to its path"

test_a_cache_that_is_mounted_read_only_is_found if {
	check.deny == {{
		"path": $"{container}/volumeMounts/0",
		"message": `container vllm keeps its models in "/model-cache" (HF_HOME), but mounts that read-only, so it cannot download them or write its locks`,
		"remedy": "mount it without readOnly, or set HF_HUB_OFFLINE=1 if the model is there",
	}} with input as examples.bad_read_only_mount
}

test_a_read_only_root_without_a_mount_is_found if {
	check.deny == {{
		"path": $"{container}/securityContext/readOnlyRootFilesystem",
		"message": "container vllm has a read-only root file system and no mount for its cache of models",
		"remedy": remedy,
	}} with input as examples.bad_read_only_root
}

test_a_user_without_a_home_is_found if {
	check.deny == {{
		"path": container,
		"message": "container vllm runs as user 1000 without HOME, so its cache of models is /.cache, which only root can write",
		"remedy": remedy,
		"assumption": "usher assumes that the image has no home directory for this user",
	}} with input as examples.bad_user
}

test_a_cache_that_can_be_written_is_good if {
	check.deny == set() with input as examples.good_cache
	check.deny == set() with input as examples.good_temporary
	check.deny == set() with input as examples.good_home
}

test_without_downloads_no_cache_is_needed if {
	check.deny == set() with input as examples.good_offline
	check.deny == set() with input as examples.good_path
}

test_variables_may_come_from_elsewhere if {
	check.deny == set() with input as examples.good_unknown_variables
}

test_the_user_of_the_container_counts_before_that_of_the_pod if {
	root := json.patch(examples.bad_user, [{"op": "add", "path": "/podSets/0/containers/0/securityContext", "value": {"runAsUser": 0}}])
	check.deny == set() with input as root
}

test_a_read_only_mount_is_no_place_for_a_cache if {
	only := json.patch(examples.bad_read_only_root, [{"op": "add", "path": "/podSets/0/containers/0/volumeMounts/0", "value": {"mountPath": "/models", "readOnly": true}}])
	count(check.deny) == 1 with input as only
}

test_a_pod_that_runs_shows_that_it_works if {
	placed := json.patch(examples.bad_user, [{"op": "add", "path": "/podSets/0/placed", "value": true}])
	check.deny == set() with input as placed
}

test_other_mounts_may_be_read_only if {
	other := json.patch(examples.bad_read_only_mount, [{"op": "replace", "path": "/podSets/0/containers/0/volumeMounts/0/mountPath", "value": "/data"}])
	check.deny == set() with input as other
}

test_a_home_is_enough_for_a_user if {
	home := json.patch(examples.bad_user, [{"op": "add", "path": "/podSets/0/containers/0/environment/HOME", "value": {"value": "/data", "path": "/env/0"}}])
	check.deny == set() with input as home
}

test_another_mount_is_no_home if {
	other := json.patch(examples.bad_user, [{"op": "add", "path": "/podSets/0/containers/0/volumeMounts", "value": [{"mountPath": "/data"}]}])
	count(check.deny) == 1 with input as other
}

test_known_variables_without_a_home_are_no_help if {
	known := json.patch(examples.good_unknown_variables, [{"op": "add", "path": "/podSets/0/containers/0/environmentSources/0/variables", "value": {}}])
	count(check.deny) == 1 with input as known
}

test_a_read_only_root_is_told_once if {
	both := json.patch(examples.bad_read_only_root, [{"op": "add", "path": "/podSets/0/securityContext", "value": {"runAsUser": 1000}}])
	count(check.deny) == 1 with input as both
}
