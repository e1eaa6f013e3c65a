package usher.checks.objects.operand_version_floating_test

import data.examples.checks.objects.operand_version_floating as examples
import data.usher.checks.objects.operand_version_floating as check

remedy := "set a version, or the digest of the image"

test_latest_is_found_in_every_operand if {
	check.deny == {
		{
			"path": "/spec/toolkit/version",
			"message": "the version of spec.toolkit is latest, so nodes get different versions depending on when they start",
			"remedy": remedy,
		},
		{
			"path": "/spec/devicePlugin/version",
			"message": "the version of spec.devicePlugin is latest, so nodes get different versions depending on when they start",
			"remedy": remedy,
		},
	} with input as examples.bad_operands
}

test_latest_is_found_in_the_driver_of_a_policy if {
	check.deny == {{
		"path": "/spec/driver/version",
		"message": "the version of spec.driver is latest, so nodes get different versions depending on when they start",
		"remedy": remedy,
	}} with input as examples.bad_driver
}

test_latest_is_found_in_a_driver_of_its_own if {
	check.deny == {{
		"path": "/spec/version",
		"message": "the version of the driver is latest, so nodes get different versions depending on when they start",
		"remedy": remedy,
	}} with input as examples.bad_nvidia_driver
}

test_versions_and_digests_are_good if {
	check.deny == set() with input as examples.good_versions
	check.deny == set() with input as examples.good_nvidia_driver
}

test_what_is_not_installed_has_no_version if {
	check.deny == set() with input as examples.good_not_installed
}
