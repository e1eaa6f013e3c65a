package usher.checks.resources.processes_match_gpus_test

import data.examples.checks.resources.processes_match_gpus as examples
import data.usher.checks.resources.processes_match_gpus as check

remedy(number) := $"start one process for each GPU, or ask for {number}"

test_more_processes_than_gpus_are_found_at_the_flag if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/command/2",
		"message": "container server starts 8 processes but has 4 GPUs, so some processes find no GPU of their own",
		"remedy": remedy("8 GPUs"),
	}} with input as examples.bad_deployment
}

test_a_variable_of_the_container_counts_before_the_number_of_the_job if {
	check.deny == {
		{
			"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env/0",
			"message": "container pytorch of Master starts 2 processes but has 8 GPUs, so the other GPUs idle",
			"remedy": remedy("2 GPUs"),
		},
		{
			"path": "/spec/nprocPerNode",
			"message": "container pytorch of Worker starts 4 processes but has 8 GPUs, so the other GPUs idle",
			"remedy": remedy("4 GPUs"),
		},
	} with input as examples.bad_pytorchjob
}

test_slots_are_for_the_workers_of_an_mpijob_alone if {
	check.deny == {{
		"path": "/spec/slotsPerWorker",
		"message": "container worker of Worker starts 16 processes but has 8 GPUs, so some processes find no GPU of their own",
		"remedy": remedy("16 GPUs"),
	}} with input as examples.bad_mpijob
	check.deny == set() with input as examples.good_mpijob
}

test_without_slots_each_worker_has_one if {
	check.deny == {{
		"path": "/spec/slotsPerWorker",
		"message": "container mpi of worker starts 1 process but has 8 GPUs, so the other GPUs idle",
		"remedy": remedy("1 GPU"),
	}} with input as examples.bad_mpijob_without_slots
}

test_a_trainjob_tells_the_number_for_its_nodes if {
	check.deny == {{
		"path": "/spec/trainer/numProcPerNode",
		"message": "container node of node starts 2 processes but has 4 GPUs, so the other GPUs idle",
		"remedy": remedy("2 GPUs"),
	}} with input as examples.bad_trainjob
	check.deny == set() with input as examples.good_trainjob
}

test_a_runtime_tells_the_number_for_its_nodes if {
	check.deny == {{
		"path": "/spec/mlPolicy/mpi/numProcPerNode",
		"message": "container node of node starts 4 processes but has 8 GPUs, so the other GPUs idle",
		"remedy": remedy("4 GPUs"),
	}} with input as examples.bad_runtime
}

test_as_many_processes_as_gpus_are_good_and_so_is_what_the_launcher_works_out if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_what_says_no_number_is_good if {
	every text in ["", "auto", "2.5", "1e1", "-2"] {
		check.deny == set() with input as json.patch(examples.bad_trainjob, [{
			"op": "replace",
			"path": "/object/trainJob/spec/trainer/numProcPerNode",
			"value": text,
		}])
	}
	without := json.remove(examples.bad_trainjob, ["/object/trainJob/spec/trainer/numProcPerNode"])
	check.deny == set() with input as without
}

test_devices_with_several_processes_and_parts_of_devices_are_not_compared if {
	check.deny == set() with input as examples.good_job_on_trainium
	check.deny == set() with input as examples.good_pod_of_shares
}

test_the_number_of_the_job_is_for_one_container if {
	check.deny == set() with input as examples.good_pytorchjob_with_two_gpu_containers
}

request(name, minimum, maximum) := {
	"route": "device claim",
	"name": name,
	"path": "/spec/resourceClaims/0/resourceClaimName",
	"minimum": {"value": minimum},
	"maximum": {"value": maximum},
}

pod_with_claim(requests, containers) := {
	"workload": {"asksAccelerators": true},
	"podSets": [{"name": "", "asksAccelerators": true, "requests": requests, "containers": containers}],
}

trainer := {
	"name": "train",
	"type": "container",
	"asksAccelerators": true,
	"accelerators": {},
	"processes": {"number": 4, "path": "/spec/containers/0/command/1"},
}

test_gpus_of_a_device_claim_are_compared_as_well if {
	check.deny == {{
		"path": "/spec/containers/0/command/1",
		"message": "container train starts 4 processes but has 8 GPUs, so the other GPUs idle",
		"remedy": remedy("4 GPUs"),
	}} with input as pod_with_claim([request("gpu.nvidia.com", 8, 8)], [trainer, {"asksAccelerators": false}])
	check.deny == set() with input as pod_with_claim([request("gpu.amd.com", 4, 4)], [trainer])
}

test_claims_that_leave_the_number_or_the_user_open_are_not_compared if {
	check.deny == set() with input as pod_with_claim([request("gpu.nvidia.com", 1, 8)], [trainer])
	check.deny == set() with input as pod_with_claim([request("mig.nvidia.com", 1, 1)], [trainer])
	check.deny == set() with input as pod_with_claim([request("gpu.nvidia.com", 8, 8)], [trainer, {"asksAccelerators": true}])
	check.deny == set() with input as pod_with_claim(
		[request("gpu.nvidia.com", 8, 8), request("mig.nvidia.com", 1, 1)],
		[trainer],
	)
	shares := object.union(request("gpu.nvidia.com", 8, 8), {"route": "share"})
	check.deny == set() with input as pod_with_claim([shares], [trainer])
}

_alone(path, container, number, place, field) := {{
	"path": path,
	"message": $"{container} starts one Python program on {number} GPUs, and {field} ({place}) has no effect, because only torchrun reads it",
	"remedy": "start the program with torchrun",
	"assumption": "usher assumes that the program starts no processes itself",
}}

test_one_program_does_not_read_the_number if {
	path := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/command"
	check.deny == _alone(path, "container pytorch of Worker", 8, "/spec/nprocPerNode", "nprocPerNode") with input as examples.bad_python
	one := [{"op": "replace", "path": "/object/pytorchJob/spec/nprocPerNode", "value": "1"}]
	check.deny == set() with input as json.patch(examples.bad_python, [{"op": "remove", "path": "/object/pytorchJob/spec/nprocPerNode"}])
	count(check.deny) == 1 with input as json.patch(examples.bad_python, one)
	check.deny == set() with input as json.patch(examples.bad_python, [{"op": "replace", "path": "/workload/owned", "value": true}])
}

test_a_module_that_launches_ranks_is_good if {
	check.deny == set() with input as examples.good_module
}
