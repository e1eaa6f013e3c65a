package usher.checks.serving.model_larger_than_its_cache_test

import data.examples.checks.serving.model_larger_than_its_cache as examples
import data.usher.checks.serving.model_larger_than_its_cache as check

spec := "/spec/template/spec"

found(path, message, remedy) := {{"path": $"{spec}{path}", "message": message, "remedy": remedy, "assumption": "usher assumes that the model is as large as its name says"}}

test_a_small_directory_is_found if {
	check.deny == found("/volumes/0/emptyDir/sizeLimit", "container vllm downloads about 64 GB of weights (32B with 16 bits) to /root/.cache/huggingface, but its volume has a sizeLimit of 20Gi", "make that larger than 64 GB") with input as examples.bad_directory
}

test_a_directory_in_memory_counts_against_the_limit if {
	check.deny == found("/containers/0/resources/limits/memory", "container vllm downloads about 64 GB of weights (32B with 16 bits) to /root/.cache/huggingface, but its volume is in memory, and the container has a limit of 32Gi", "make that larger than 64 GB") with input as examples.bad_memory
}

test_a_small_disk_is_found if {
	check.deny == found("/volumes/0", "container vllm downloads about 140 GB of weights (70B with 16 bits) to /models/hub, but its claim asks for a disk of 50Gi", "make that larger than 140 GB") with input as examples.bad_claim
}

test_a_small_limit_is_found if {
	check.deny == found("/containers/0/resources/limits/ephemeral-storage", "container vllm downloads about 16 GB of weights (8B with 16 bits) into its own files, but has a limit for ephemeral-storage of 10Gi", "raise the limit above 16 GB, or mount a volume for the cache of models") with input as examples.bad_own_files
	check.deny == found("/containers/0/resources/limits/ephemeral-storage", "container vllm downloads about 64 GB of weights (32B with 16 bits) to /scratch, but the container has a limit for ephemeral-storage of 30Gi", "make that larger than 64 GB") with input as examples.bad_flag
}

test_a_cache_with_room_is_good if {
	check.deny == set() with input as examples.good_claim
	check.deny == set() with input as examples.good_directory
}

test_without_a_known_download_nothing_is_said if {
	check.deny == set() with input as examples.good_offline
	check.deny == set() with input as examples.good_other_volume
	check.deny == set() with input as examples.good_unknown_variable
}
