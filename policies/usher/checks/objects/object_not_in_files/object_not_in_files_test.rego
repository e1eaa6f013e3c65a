package usher.checks.objects.object_not_in_files_test

import data.examples.checks.objects.object_not_in_files as examples
import data.usher.checks.objects.object_not_in_files as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_flavors_of_a_queue_are_looked_up if {
	consequence := "which these files do not have; without it, the queue stays inactive"
	remedy := "name one that they have (a100, h200), or add it"
	check.deny == {
		found(
			"/spec/resourceGroups/0/flavors/0/name",
			$"ClusterQueue names the ResourceFlavor h-100, {consequence}",
			remedy,
		),
		found(
			"/spec/resourceGroups/0/flavors/1/name",
			$"ClusterQueue names the ResourceFlavor spot, {consequence}",
			remedy,
		),
	} with input as examples.bad_cluster_queue
}

test_labels_of_a_namespace_are_compared if {
	check.deny == {found(
		"/spec/clusterQueue",
		concat("", [
			"LocalQueue leads to the ClusterQueue research, whose namespaceSelector does not match the labels of the ",
			"namespace team-nlp in these files, so it admits nothing from there",
		]),
		"change the labels of the Namespace, or the namespaceSelector of the ClusterQueue",
	)} with input as examples.bad_local_queue
}

test_a_slip_in_the_name_of_a_config_map_is_found if {
	check.deny == {found(
		"/spec/containers/0/envFrom/0/configMapRef/name",
		"Pod names the ConfigMap trian-settings, which these files do not have",
		"did you mean train-settings?",
	)} with input as examples.bad_pod
}

test_other_objects_pass if {
	check.deny == set() with input as examples.good_cluster_queue
	check.deny == set() with input as examples.good_pod
}
