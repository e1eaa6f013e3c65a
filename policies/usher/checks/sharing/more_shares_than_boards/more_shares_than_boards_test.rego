package usher.checks.sharing.more_shares_than_boards_test

import data.examples.checks.sharing.more_shares_than_boards as examples
import data.usher.checks.sharing.more_shares_than_boards as check

found(asked) := {{
	"path": "/spec/containers/0/resources/limits/nvidia.com~1gpu",
	"message": $"container serve asks HAMi for {asked} shares, each on another GPU, but no node has more than 2 GPUs",
	"remedy": "ask for one share with more memory and cores, or for fewer shares",
}}

test_more_shares_than_boards_are_found if {
	check.deny == found(3) with input as examples.bad_three
	check.deny == found(9) with input as examples.bad_nine
	check.deny == found(4) with input as examples.bad_named
}

test_more_memory_than_a_board_is_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/nvidia.com~1gpumem",
		"message": "container serve asks HAMi for 40000 MiB of a GPU, but no GPU has more than 23028",
		"remedy": "ask for at most 23028 of nvidia.com/gpumem, or for shares of several GPUs",
	}} with input as examples.bad_memory
}

test_more_virtual_gpus_than_boards_are_found if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/volcano.sh~1vgpu-number",
		"message": "container serve asks Volcano for 2 shares, each on another GPU, but no node has more than 1 GPU",
		"remedy": "ask for one share with more memory and cores, or for fewer shares",
	}} with input as examples.bad_volcano
}

test_a_share_on_each_board_is_good if {
	check.deny == set() with input as examples.good_two
}

test_boards_that_nothing_tells_are_not_known if {
	check.deny == set() with input as json.remove(examples.bad_three, ["/cluster/hami/boards"])
}
