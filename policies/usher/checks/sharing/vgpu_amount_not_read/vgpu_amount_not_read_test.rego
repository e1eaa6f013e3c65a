package usher.checks.sharing.vgpu_amount_not_read_test

import data.examples.checks.sharing.vgpu_amount_not_read as examples
import data.usher.checks.sharing.vgpu_amount_not_read as check

old := {"assumption": "usher assumes that Volcano is older than 1.14"}

below(percentage) := {
	"path": "/spec/containers/0/resources/limits/volcano.sh~1vgpu-memory-percentage",
	"message": $"container serve asks for {percentage} % of the memory of a GPU, but Volcano before 1.14 reserves no memory for it",
	"remedy": "ask for volcano.sh/vgpu-memory in MiB",
}

test_a_percentage_is_no_memory_before_1_14 if {
	check.deny == {object.union(below(20), old)} with input as examples.bad_percentage
	check.deny == {below(20)} with input as examples.bad_percentage
		with data.usher.lib.parameters.sharing.vgpu_amount_not_read.version as "1.9.1"
	every version in ["1.14.0", "1.15", "2.0.1"] {
		check.deny == set() with input as examples.bad_percentage
			with data.usher.lib.parameters.sharing.vgpu_amount_not_read.version as version
	}
}

test_both_amounts_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/volcano.sh~1vgpu-memory-percentage",
		"message": "container serve asks for 50 % of the memory of a GPU and for 4000 MiB: Volcano before 1.14 ignores the percentage, and later versions the other",
		"remedy": "keep volcano.sh/vgpu-memory",
	}} with input as examples.bad_both
}

test_amounts_without_a_gpu_are_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/volcano.sh~1vgpu-cores",
		"message": "container serve asks for volcano.sh/vgpu-cores without volcano.sh/vgpu-number, so Volcano gives it no GPU",
		"remedy": "add volcano.sh/vgpu-number: 1",
	}} with input as examples.bad_cores_alone
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/volcano.sh~1vgpu-memory-percentage",
		"message": "container serve asks for volcano.sh/vgpu-memory-percentage without volcano.sh/vgpu-number, so Volcano gives it no GPU",
		"remedy": "add volcano.sh/vgpu-number: 1",
	}} with input as examples.bad_percentage_alone
}

test_memory_in_mebibytes_is_good if {
	check.deny == set() with input as examples.good_memory
	check.deny == set() with input as examples.good_memory_alone
}

test_all_memory_is_good if {
	check.deny == set() with input as examples.good_all
}
