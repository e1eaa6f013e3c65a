package usher.checks.isolation.node_agent_of_a_tenant_test

import data.examples.checks.isolation.node_agent_of_a_tenant as examples
import data.usher.checks.isolation.node_agent_of_a_tenant as check

finding(path, what) := {
	"path": path,
	"message": $"the pod {what}",
	"remedy": "remove these permissions, or move the pod to a system namespace",
}

of_daemon_set := "so it controls every node that its DaemonSet runs on"

test_one_permission_is_too_much_for_a_daemon_set_of_a_tenant if {
	check.deny == {finding(
		"/spec/template/spec",
		$"has a privileged container, {of_daemon_set}",
	)} with input as examples.bad_daemonset
	check.deny == {finding(
		"/spec/template/spec",
		$"sees all processes of its node, {of_daemon_set}",
	)} with input as examples.bad_watcher
}

test_the_pods_of_the_daemon_set_are_found_as_well if {
	check.deny == {finding(
		"/spec",
		$"sees all processes of its node, {of_daemon_set}",
	)} with input as examples.bad_pod_of_a_daemonset
}

test_both_permissions_are_too_much_for_every_other_kind if {
	both := {finding(
		"/spec/template/spec",
		"sees all processes of its node and has a privileged container, so it controls its node",
	)}
	check.deny == both with input as examples.bad_job
	check.deny == set() with input as examples.good_deployment
}

test_a_file_says_it_as_well_as_a_request if {
	found := {finding("/spec/template/spec", $"has a privileged container, {of_daemon_set}")}
	check.deny == found with input as json.remove(examples.bad_daemonset, ["/review"])
}

test_daemon_sets_without_permissions_are_good if {
	check.deny == set() with input as examples.good_daemonset
}

test_processes_seen_by_another_user_than_root_are_good if {
	check.deny == set() with input as examples.good_watcher
	check.deny != set() with input as json.remove(
		examples.good_watcher,
		["/podSets/0/containers/0/securityContext"],
	)
}

test_drivers_and_exporters_may_have_them_in_their_namespaces if {
	check.deny == set() with input as examples.good_driver
	check.deny == set() with input as examples.good_exporter
	moved := object.union(examples.good_driver, {"site": {"systemNamespace": false}})
	check.deny == {finding(
		"/spec/template/spec",
		$"sees all processes of its node and has a privileged container, {of_daemon_set}",
	)} with input as moved
}
