package usher.checks.sharing.mig_layout_refused_test

import data.examples.checks.sharing.mig_layout_refused as examples
import data.usher.checks.sharing.mig_layout_refused as check

found(message, remedy) := {"path": "/data/config.yaml", "message": message, "remedy": remedy}

test_more_instances_than_a_gpu_holds_are_found if {
	check.deny == {found(
		`the layout "half" asks for 3 of 3g.40gb on one GPU, and no board holds them: at most 2`,
		"write fewer instances for one GPU",
	)} with input as examples.bad_too_many
}

test_the_board_of_a_filter_decides if {
	check.deny == {found(
		`the layout "small" asks for 7 of 1g.10gb on one GPU, and A100-40 does not hold them: at most 4`,
		"write fewer instances for one GPU",
	)} with input as examples.bad_filter
}

test_a_name_of_a_resource_is_no_profile if {
	check.deny == {found(
		`the layout "graphics" names 1g.24gb.gfx, which is not a profile, so the MIG manager refuses the whole configuration`,
		"write 1g.24gb+gfx",
	)} with input as examples.bad_dotted
}

test_missing_and_contradicting_fields_are_found if {
	check.deny == {
		found(
			`the layout "a" has an entry without devices, so the MIG manager refuses the whole configuration`,
			"write devices",
		),
		found(
			`the layout "b" has mig-devices beside mig-enabled: false, so the MIG manager refuses the whole configuration`,
			"set mig-enabled to true, or remove mig-devices",
		),
		found(`the layout "c" has no entries`, "write what to do with the GPUs of the node"),
	} with input as examples.bad_fields
}

test_profiles_of_two_boards_do_not_fit_one if {
	check.deny == {found(
		`the layout "both" asks for 1 of 4g.20gb, 1 of 3g.40gb on one GPU, and no board holds them`,
		"write fewer instances for one GPU",
	)} with input as examples.bad_two_boards
}

test_layouts_that_fit_are_good if {
	check.deny == set() with input as examples.good_layouts
	check.deny == set() with input as examples.good_unknown_filter
	check.deny == set() with input as examples.good_compute_instances
}
