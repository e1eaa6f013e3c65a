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

test_a_share_on_each_board_is_good if {
	check.deny == set() with input as examples.good_two
}

test_boards_that_nothing_tells_are_not_known if {
	check.deny == set() with input as json.remove(examples.bad_three, ["/cluster/hami/boards"])
}
