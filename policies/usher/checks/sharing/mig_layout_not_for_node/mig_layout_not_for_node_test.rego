package usher.checks.sharing.mig_layout_not_for_node_test

import data.examples.checks.sharing.mig_layout_not_for_node as examples
import data.usher.checks.sharing.mig_layout_not_for_node as check

found(name, message, remedy) := {{
	"path": "/metadata/labels/nvidia.com~1mig.config",
	"message": $"the layout \"{name}\" {message}",
	"remedy": remedy,
	"assumption": "usher assumes that the layout has the profile of its name",
}}

test_a_profile_that_the_board_lacks_is_found if {
	check.deny == found(
		"all-1g.5gb",
		"asks for 1g.5gb, which H100-80 does not have",
		"write a profile of the board: 1g.20gb, 1g.10gb, 1g.10gb+me",
	) with input as examples.bad_h100
	check.deny == found(
		"all-3g.40gb",
		"asks for 3g.40gb, which A30-24 does not have",
		"write a profile of the board: 4g.24gb, 2g.12gb, 2g.12gb+me, 1g.6gb, 1g.6gb+me",
	) with input as examples.bad_a30
	check.deny == found(
		"all-1g.24gb.gfx",
		"asks for 1g.24gb+gfx, which B200 does not have",
		"write a profile of the board: 1g.45gb, 1g.23gb, 1g.23gb+me",
	) with input as examples.bad_b200
}

test_the_configuration_in_the_files_decides if {
	besides := object.union(examples.bad_h100, {"beside": {"layout": {
		"text": "is in no configuration of the MIG manager in these files",
		"remedy": "name one of them: half",
	}}})
	check.deny == {{
		"path": "/metadata/labels/nvidia.com~1mig.config",
		"message": `the layout "all-1g.5gb" is in no configuration of the MIG manager in these files`,
		"remedy": "name one of them: half",
		"assumption": "usher assumes that the MIG manager reads the configurations in these files",
	}} with input as besides
	check.deny == set() with input as object.union(examples.bad_h100, {"beside": {"layout": {"text": "", "remedy": ""}}})
}

test_layouts_of_the_board_are_good if {
	check.deny == set() with input as examples.good_h100
}

test_other_names_and_boards_are_not_known if {
	check.deny == set() with input as examples.good_own_name
	check.deny == set() with input as examples.good_unknown_board
}
