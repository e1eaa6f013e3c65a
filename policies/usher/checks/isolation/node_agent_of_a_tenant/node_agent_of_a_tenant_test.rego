package usher.checks.isolation.node_agent_of_a_tenant_test

import data.examples.checks.isolation.node_agent_of_a_tenant as examples
import data.usher.checks.isolation.node_agent_of_a_tenant as check

finding(path, what) := {
	"path": path,
	"message": $"the pod {what}",
	"remedy": "remove these permissions, or move the pod to a system namespace",
}

of_agent(what) := {
	"path": "/spec/template/spec",
	"message": $"the pod {what}",
	"remedy": "list its namespace in usher.yaml under priorities.systemNamespaces, or remove these permissions",
	"assumption": "usher assumes that it is a node agent, because usher.yaml does not set priorities.systemNamespaces",
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
	check.deny == both with input as object.union(examples.bad_job, {"site": {"systemNamespacesDeclared": false}})
	check.deny == set() with input as examples.good_deployment
}

test_until_usher_yaml_names_system_namespaces_one_warning_names_all_permissions_of_an_agent if {
	undeclared := {"site": {"systemNamespacesDeclared": false}, "review": {"operation": "CREATE", "subResource": "", "by": []}}
	check.deny == {of_agent($"has a privileged container, {of_daemon_set}")} with input as object.union(
		examples.bad_daemonset,
		undeclared,
	)
	all := json.patch(object.union(examples.bad_daemonset, undeclared), [
		{"op": "add", "path": "/podSets/0/hostPID", "value": true},
		{"op": "replace", "path": "/podSets/0/priorityClassName", "value": "system-node-critical"},
		{"op": "add", "path": "/podSets/0/volumes", "value": [{"name": "dev", "hostPath": {"path": "/dev", "place": "/dev"}}]},
	])
	check.deny == {of_agent(concat(" and ", [
		"sees all processes of its node",
		"has a privileged container",
		"mounts host paths that control its node",
		$"has a system priority class, {of_daemon_set}",
	]))} with input as all
}

test_files_do_not_say_which_namespaces_are_those_of_the_system if {
	check.deny == set() with input as object.union(examples.bad_daemonset, {"site": {"systemNamespacesDeclared": false}})
}

test_an_agent_with_harmless_host_paths_is_good if {
	harmless := json.patch(
		object.union(examples.good_daemonset, {
			"site": {"systemNamespacesDeclared": false},
			"review": {"operation": "CREATE", "subResource": "", "by": []},
		}),
		[{"op": "add", "path": "/podSets/0/volumes", "value": [{"name": "logs", "hostPath": {"path": "/var/scratch", "place": "/var/scratch"}}]}],
	)
	check.deny == set() with input as harmless
	directory := json.patch(harmless, [
		{"op": "replace", "path": "/podSets/0/volumes/0/hostPath/place", "value": "/"},
	])
	count(check.deny) == 1 with input as directory
}

test_daemon_sets_without_permissions_are_good if {
	check.deny == set() with input as examples.good_daemonset
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
