package usher.checks.objects.toolkit_version_vulnerable_test

import data.examples.checks.objects.toolkit_version_vulnerable as examples
import data.usher.checks.objects.toolkit_version_vulnerable as check

test_a_release_without_the_fixes_is_found if {
	check.deny == {{
		"path": "/spec/toolkit/version",
		"message": `version "v1.17.3-ubuntu20.04" of the container toolkit is older than 1.19.1, so a container can escape through known vulnerabilities`,
		"remedy": "install 1.19.1 or later",
	}} with input as examples.bad_tag
}

test_the_release_before_is_found if {
	check.deny == {{
		"path": "/spec/toolkit/version",
		"message": `version "1.19.0" of the container toolkit is older than 1.19.1, so a container can escape through known vulnerabilities`,
		"remedy": "install 1.19.1 or later",
	}} with input as examples.bad_release_before
}

test_versions_are_compared_as_numbers if {
	check.deny == {{
		"path": "/spec/toolkit/version",
		"message": `version "v1.9.0-ubi8" of the container toolkit is older than 1.19.1, so a container can escape through known vulnerabilities`,
		"remedy": "install 1.19.1 or later",
	}} with input as examples.bad_old
}

test_a_site_may_want_a_later_one if {
	site := {"parameters": {"objects/toolkit_version_vulnerable": {"minimum": "1.20.0"}}}
	check.deny == {{
		"path": "/spec/toolkit/version",
		"message": `version "v1.19.1-ubi9" of the container toolkit is older than 1.20.0, so a container can escape through known vulnerabilities`,
		"remedy": "install 1.20.0 or later",
	}} with input as object.union(examples.good_release, {"site": site})
}

test_the_release_with_the_fixes_is_good if {
	check.deny == set() with input as examples.good_release
	check.unknown == set() with input as examples.good_release
}

test_later_releases_are_good if {
	check.deny == set() with input as examples.good_later
}

test_a_toolkit_that_somebody_else_installs_is_good if {
	check.deny == set() with input as examples.good_not_installed
	check.unknown == set() with input as examples.good_not_installed
}

test_where_no_version_is_named_the_operator_decides if {
	every example in [examples.good_without_version, examples.good_empty_version] {
		check.deny == set() with input as example
		check.unknown == set() with input as example
	}
}

test_a_digest_does_not_tell_the_release if {
	check.deny == set() with input as examples.unknown_digest
	check.unknown == {{
		"path": "/spec/toolkit/version",
		"reason": `"sha256:3ac3d0bc7e3ddef56c1f5b1f9a1a6e..." is not a release number of the container toolkit`,
	}} with input as examples.unknown_digest
}

test_neither_does_what_is_no_release if {
	every example in [examples.unknown_branch, examples.unknown_half, examples.unknown_letters] {
		check.deny == set() with input as example
		count(check.unknown) == 1 with input as example
	}
}
