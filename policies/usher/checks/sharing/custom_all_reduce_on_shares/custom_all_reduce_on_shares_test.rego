package usher.checks.sharing.custom_all_reduce_on_shares_test

import data.examples.checks.sharing.custom_all_reduce_on_shares as examples
import data.usher.checks.sharing.custom_all_reduce_on_shares as check

test_an_all_reduce_that_fails_on_shares_is_found if {
	check.deny == {{"path": "/spec/template/spec/containers/0/args/2", "message": "container server runs vLLM with tensor parallel size 2 on shares of GPUs, and its all-reduce fails under the library of HAMi", "remedy": "add --disable-custom-all-reduce, or ask for whole GPUs"}} with input as examples.bad_hami
	check.deny == {{"path": "/spec/template/spec/containers/0/args/2", "message": "container server runs SGLang with tensor parallel size 2 on shares of GPUs, and its all-reduce fails under the library of HAMi", "remedy": "add --disable-custom-all-reduce, or ask for whole GPUs"}} with input as examples.bad_sglang
	check.deny == {{"path": "/spec/template/spec/containers/0/args/2", "message": "container server runs vLLM with tensor parallel size 2 on shares of GPUs, and its all-reduce fails under the library of Volcano", "remedy": "add --disable-custom-all-reduce, or ask for whole GPUs"}} with input as examples.bad_volcano
}

test_without_it_or_without_shares_the_server_starts if {
	check.deny == set() with input as examples.good_library_off
	check.deny == set() with input as examples.good_one_share
	check.deny == set() with input as examples.good_switched_off
	check.deny == set() with input as examples.good_whole_gpus
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_hami, owned)
}
