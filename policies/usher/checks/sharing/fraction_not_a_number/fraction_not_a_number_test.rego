package usher.checks.sharing.fraction_not_a_number_test

import data.examples.checks.sharing.fraction_not_a_number as examples
import data.usher.checks.sharing.fraction_not_a_number as check

found(path, name, value, wanted, remedy) := {{
	"path": $"{path}/annotations/{name}",
	"message": $"the pod has {name} \"{value}\", which is not {wanted}, so KAI-Scheduler refuses it or counts it nowhere",
	"remedy": remedy,
}}

part(path, value) := found(path, "gpu-fraction", value, "a number above 0 and below 1", "write a part of a GPU, for example 0.5")

test_a_fraction_that_is_no_part_is_found if {
	check.deny == part("/metadata", "NaN") with input as examples.bad_nan
	check.deny == part("/metadata", "1.5") with input as examples.bad_above_one
	check.deny == part("/metadata", "-0.5") with input as examples.bad_negative
	check.deny == part("/spec/template/metadata", "Inf") with input as examples.bad_infinite
	check.deny == part("/metadata", "50%") with input as examples.bad_percent
}

test_memory_and_devices_are_whole_numbers if {
	check.deny == found("/metadata", "gpu-memory", "4Gi", "a whole number of MiB", "write the memory in MiB, for example 4096") with input as examples.bad_memory
	check.deny == found("/metadata", "gpu-fraction-num-devices", "0", "a whole number of GPUs", "write 1 or more") with input as examples.bad_devices
}

test_one_annotation_says_the_part if {
	check.deny == {{
		"path": "/metadata/annotations/gpu-memory",
		"message": "the pod has gpu-memory beside gpu-fraction \"0.5\", so KAI-Scheduler refuses it",
		"remedy": "keep one of gpu-fraction and gpu-memory",
	}} with input as examples.bad_both
}

test_parts_of_a_gpu_are_good if {
	check.deny == set() with input as examples.good_half
	check.deny == set() with input as examples.good_memory
	check.deny == set() with input as examples.good_exponent
}

test_the_keys_mean_nothing_to_other_schedulers if {
	elsewhere := json.patch(examples.bad_nan, [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "volcano"}])
	check.deny == set() with input as elsewhere
}

test_a_number_of_gpus_alone_asks_for_nothing if {
	alone := json.patch(examples.bad_devices, [{"op": "remove", "path": "/podSets/0/annotations/gpu-fraction"}])
	check.deny == set() with input as alone
}

test_what_kai_can_read_is_good_however_it_is_written if {
	check.deny == set() with input as examples.good_zero_exponent
}

test_both_annotations_mean_nothing_to_other_schedulers if {
	elsewhere := json.patch(examples.bad_both, [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "volcano"}])
	check.deny == set() with input as elsewhere
}
