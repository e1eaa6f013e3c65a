package usher.checks.isolation.host_path_not_listed_test

import data.examples.checks.isolation.host_path_not_listed as examples
import data.usher.checks.isolation.host_path_not_listed as check

finding(path, volume, written) := {
	"path": path,
	"message": $"volume {volume} mounts the host path {written}, which usher.yaml does not list",
	"remedy": "use a volume claim or an emptyDir, or have the path listed in usher.yaml",
}

test_a_path_that_is_not_listed_is_found_and_so_is_a_harmless_one_that_the_pod_can_change if {
	check.deny == {
		finding("/spec/volumes/0/hostPath/path", "cache", `"/srv/cache"`),
		finding("/spec/volumes/1/hostPath/path", "clock", `"/etc/localtime"`),
	} with input as examples.bad_pod
}

test_a_name_that_begins_like_a_listed_one_is_found if {
	check.deny == {finding(
		"/spec/template/spec/volumes/0/hostPath/path",
		"disk",
		`"/mnt/datasets-old"`,
	)} with input as examples.bad_statefulset
}

test_the_place_on_the_node_counts if {
	check.deny == {finding(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/volumes/0/hostPath/path",
		"data of Worker",
		`"/mnt/datasets/../other"`,
	)} with input as examples.bad_pytorchjob
}

test_listed_paths_are_good if {
	check.deny == set() with input as examples.good_job
}

test_volumes_of_a_declared_recipe_are_listed if {
	recipe := {"volumes": [{"name": "data", "hostPath": {"path": "/mnt/datasets/../other"}}]}
	fitting := json.patch(
		examples.bad_pytorchjob,
		[{"op": "add", "path": "/podSets/0/fits", "value": [{"pool": "h100", "fabric": "own"}]}],
	)
	check.deny == set() with input as object.union(fitting, {"fabrics": {"own": {"recipe": recipe}}})
	count(check.deny) == 1 with input as object.union(
		fitting,
		{"fabrics": {"own": {"recipe": {"volumes": [{"name": "data", "emptyDir": {}}]}}}},
	)
}

test_system_namespaces_may_mount_any_path if {
	check.deny == set() with input as examples.good_daemonset
	tenant := object.union(examples.good_daemonset, {"site": {"systemNamespace": false}})
	count(check.deny) == 1 with input as tenant
}

test_volumes_lead_to_listed_paths_only if {
	check.deny == {{
		"path": "/spec/hostPath/path",
		"message": `this PersistentVolume mounts the host path "/srv/models", which usher.yaml does not list`,
		"remedy": "use a volume claim or an emptyDir, or have the path listed in usher.yaml",
	}} with input as examples.bad_volume
	check.deny == set() with input as examples.good_volume
}

test_a_volume_may_be_written_whatever_its_access_modes_are if {
	harmless := {"hostPath": {"path": "/etc/localtime", "place": "/etc/localtime"}}
	count(check.deny) == 1 with input as json.patch(
		examples.bad_volume,
		[{"op": "replace", "path": "/object/persistentVolume/spec", "value": harmless}],
	)
}

test_paths_of_drivers_need_no_list if {
	spec := {"csi": {"driver": "nfs.csi.k8s.io", "volumeAttributes": {"share": {"path": "/x", "place": "/x"}}}}
	check.deny == set() with input as json.patch(
		examples.bad_volume,
		[{"op": "replace", "path": "/object/persistentVolume/spec", "value": spec}],
	)
}

test_a_mount_that_is_read_only_lists_no_path if {
	some finding in check.deny with input as json.patch(
		examples.bad_pod,
		[{"op": "add", "path": "/podSets/0/containers/0/volumeMounts/0/readOnly", "value": true}],
	)
	finding.path == "/spec/volumes/0/hostPath/path"
}
