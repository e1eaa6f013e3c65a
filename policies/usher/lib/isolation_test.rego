package usher.lib.isolation_test

import data.usher.lib.isolation

volume(path, place) := {"name": "files", "hostPath": {"path": path, "place": place}}

pod_set := {"name": "Worker", "specPath": "/spec/template/spec", "metadataPath": "/spec/template/metadata"}

pod_set_without_name := {"name": "", "specPath": "/spec", "metadataPath": "/metadata"}

test_drivers_and_monitoring_may_see_all_devices if {
	isolation.may_see_all_devices with input as {"site": {"systemNamespace": true, "visibleDevicesAllowed": false}}
	isolation.may_see_all_devices with input as {"site": {"systemNamespace": false, "visibleDevicesAllowed": true}}
	not isolation.may_see_all_devices with input as {"site": {"systemNamespace": false, "visibleDevicesAllowed": false}}
}

test_host_paths_are_found_among_other_volumes if {
	volumes := [{"name": "scratch", "emptyDir": {}}, volume("/var/run/", "/run"), {"name": "odd", "hostPath": {}}]
	with_volumes := object.union(pod_set, {"volumes": volumes})
	isolation.host_paths == [{
		"podSet": with_volumes,
		"volume": "files",
		"path": "/spec/template/spec/volumes/1/hostPath/path",
		"written": "/var/run/",
		"place": "/run",
		"general": "/run",
	}] with input as {"podSets": [pod_set_without_name, with_volumes]}
}

test_a_volume_without_a_name_is_found_too if {
	nameless := object.remove(volume("/dev", "/dev"), ["name"])
	[entry.volume | some entry in isolation.host_paths] == [""] with input as {"podSets": [object.union(
		pod_set_without_name,
		{"volumes": [nameless]},
	)]}
}

test_a_place_is_within_a_path_that_it_is_or_that_is_above_it if {
	isolation.within_any("/dev/dri", ["/dev/kfd", "/dev/dri"])
	isolation.within_any("/dev/dri/card0", ["/dev/dri"])
	not isolation.within_any("/dev/drivers", ["/dev/dri"])
	not isolation.within_any("/dev", ["/dev/dri"])
	not isolation.within_any("/dev/dri", [])
}

test_a_star_stands_for_the_rest_of_a_name if {
	isolation.within_any("/dev/nvidia0", ["/dev/nvidia*"])
	isolation.within_any("/dev/nvidia-caps/nvidia-cap1", ["/dev/nvidia*"])
	not isolation.within_any("/dev/nvme0", ["/dev/nvidia*"])
}

test_a_path_with_user_stands_for_each_user if {
	key := {"place": "/home/anna/.ssh", "general": "/home/USER/.ssh"}
	isolation.leads_to(key, ["/home/anna"])
	isolation.leads_to(key, ["/home/USER/.*"])
	not isolation.leads_to(key, ["/home/USER/data"])
	not isolation.leads_to({"place": "/home", "general": "/home"}, ["/home/USER"])
}

with_mounts(mounts) := {"podSets": [
	{"path": "/spec", "containers": [{"volumeMounts": mounts}, {}]},
	{"path": "/other", "containers": [{"volumeMounts": [{"name": "files"}]}]},
]}

test_a_volume_is_only_read_if_all_its_mounts_are_read_only if {
	files := {"volume": "files", "podSet": {"path": "/spec"}}
	isolation.only_read(files) with input as with_mounts([{"name": "files", "readOnly": true}, {"name": "other"}])
	not isolation.only_read(files) with input as with_mounts([{"name": "files", "readOnly": true}, {"name": "files"}])
	not isolation.only_read(files) with input as with_mounts([])
	isolation.is_mounted(files) with input as with_mounts([{"name": "files"}])
	not isolation.is_mounted(files) with input as with_mounts([])
}

test_things_are_named_as_people_say_it if {
	isolation.volume_name({"podSet": pod_set, "volume": "files"}) == "volume files of Worker"
	isolation.volume_name({"podSet": pod_set_without_name, "volume": "files"}) == "volume files"
}

test_annotations_that_name_devices_are_found_with_their_domain if {
	annotated := object.union(pod_set, {"annotations": {
		"kueue.x-k8s.io/podset-group-name": "all",
		"nvidia.cdi.k8s.io": "nvidia.com/gpu=0",
		"nvidia.cdi.k8s.io/a~b": "nvidia.com/gpu=1",
		"nvidia.cdi.k8s.io.example.com/a": "nvidia.com/gpu=2",
	}})
	isolation.device_annotations == [
		{
			"podSet": annotated,
			"domain": "nvidia.cdi.k8s.io",
			"key": "nvidia.cdi.k8s.io",
			"value": "nvidia.com/gpu=0",
			"path": "/spec/template/metadata/annotations/nvidia.cdi.k8s.io",
		},
		{
			"podSet": annotated,
			"domain": "nvidia.cdi.k8s.io",
			"key": "nvidia.cdi.k8s.io/a~b",
			"value": "nvidia.com/gpu=1",
			"path": "/spec/template/metadata/annotations/nvidia.cdi.k8s.io~1a~0b",
		},
	] with input as {"podSets": [annotated, object.union(pod_set_without_name, {"annotations": {}})]}
}
