package usher.lib.fabric_test

import data.usher.lib.fabric

workers := {
	"asksAccelerators": true,
	"ranksInheritEnvironment": true,
	"containers": [{"name": "train"}, {"name": "logs"}],
}

launched := {"asksAccelerators": true, "ranksInheritEnvironment": false, "containers": [{"name": "rank"}]}

launcher := {"asksAccelerators": false, "ranksInheritEnvironment": true, "containers": [{"name": "mpirun"}]}

names(entries) := [entry.container.name | some entry in entries]

test_only_accelerator_pods_have_a_fabric if {
	names(fabric.containers) == ["train", "logs", "rank"] with input as {"podSets": [launcher, workers, launched]}
}

test_ranks_that_sshd_starts_see_no_environment if {
	names(fabric.rank_containers) == ["train", "logs"] with input as {"podSets": [launcher, workers, launched]}
}

test_a_mount_covers_its_place_and_what_is_below if {
	fabric.mounted({"volumeMounts": [{"mountPath": "/dev/shm"}]}, "/dev/shm")
	fabric.mounted({"volumeMounts": [{"mountPath": "/dev/shm/"}]}, "/dev/shm")
	fabric.mounted({"volumeMounts": [{"name": "lost"}, {"mountPath": "/etc/nccl"}]}, "/etc/nccl/topo.xml")
	fabric.mounted({"volumeMounts": [{"mountPath": "/"}]}, "/etc/nccl/topo.xml")
}

test_a_mount_beside_covers_nothing if {
	not fabric.mounted({"volumeMounts": [{"mountPath": "/dev/shmem"}]}, "/dev/shm")
	not fabric.mounted({"volumeMounts": [{"mountPath": "/dev/shm/cache"}]}, "/dev/shm")
	not fabric.mounted({}, "/dev/shm")
}

test_only_a_train_job_leaves_its_mounts_to_others if {
	fabric.mounts_known with input as {"object": {}}
	fabric.mounts_known with input as {}
	not fabric.mounts_known with input as {"object": {"trainJob": {"spec": {}}}}
}

test_devices_are_what_cannot_be_divided if {
	resources := {name: {} |
		some name in [
			"cpu", "memory", "hugepages-2Mi", "rdma/ib", "vpc.amazonaws.com/efa",
			"attachable.kubernetes.io/volume",
		]
	}
	pod_set := object.union(workers, {"containers": [{"name": "train", "resources": resources}, {"name": "logs"}]})
	devices := [device.name | some device in fabric.devices] with input as {"podSets": [pod_set]}
	sort(devices) == ["hugepages-2Mi", "rdma/ib", "vpc.amazonaws.com/efa"]
}

test_a_device_stands_in_its_container_or_where_the_kind_keeps_it if {
	device := {"name": "rdma/ib", "container": {"path": "/spec/containers/0"}, "resource": {"limits": {}}}
	fabric.device_path(device, "limits") == "/spec/containers/0/resources/limits/rdma~1ib"
	elsewhere := object.union(device, {"resource": {"places": {"limits": "/spec/trainer/x/limits/rdma~1ib"}}})
	fabric.device_path(elsewhere, "limits") == "/spec/trainer/x/limits/rdma~1ib"
	fabric.device_path(elsewhere, "requests") == "/spec/containers/0/resources/requests/rdma~1ib"
}

test_amounts_are_shown_as_people_write_them if {
	fabric.shown({"name": "hugepages-2Mi"}, {"text": "1073741824", "value": 1073741824}) == "1Gi"
	fabric.shown({"name": "rdma/ib"}, {"text": "500m", "value": 1}) == "500m"
}
