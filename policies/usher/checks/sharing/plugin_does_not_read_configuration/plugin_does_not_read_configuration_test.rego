package usher.checks.sharing.plugin_does_not_read_configuration_test

import data.examples.checks.sharing.plugin_does_not_read_configuration as examples
import data.usher.checks.sharing.plugin_does_not_read_configuration as check

found(way, because, remedy) := {
	"path": "/data/any",
	"message": $"the configuration \"any\" shares GPUs by {way}, but the DaemonSet of the device plugin in these files {because}",
	"remedy": remedy,
	"assumption": "usher assumes that the configuration is for this DaemonSet",
}

no_file(way) := found(way, "names no configuration file, so it reads no configuration", "set CONFIG_FILE or --config-file to the mounted key, or use NVIDIA's chart")

no_root := found("mps", "has no MPS_ROOT, so it does not start", "set MPS_ROOT or --mps-root and run the MPS control daemon, or use NVIDIA's chart")

test_a_plugin_without_a_file_reads_nothing if {
	check.deny == {no_file("timeSlicing")} with input as examples.bad_no_file
	check.deny == {no_file("timeSlicing")} with input as examples.bad_from_variables
}

test_mps_needs_a_root if {
	check.deny == {no_root} with input as examples.bad_no_root
	sliced := object.union(examples.good_alone, {"beside": {"placed": ["plugin without a root"]}})
	check.deny == set() with input as sliced
}

test_a_configuration_without_its_plugin_is_good if {
	check.deny == set() with input as examples.good_alone
	check.deny == set() with input as examples.good_plugin
}
