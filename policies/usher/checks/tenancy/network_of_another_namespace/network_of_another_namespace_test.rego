package usher.checks.tenancy.network_of_another_namespace_test

import data.examples.checks.tenancy.network_of_another_namespace as examples
import data.usher.checks.tenancy.network_of_another_namespace as check

found(path, pods, namespace, own) := {
	"path": $"{path}/annotations/k8s.v1.cni.cncf.io~1networks",
	"message": $"{pods} joins a network of namespace {namespace}",
	"remedy": $"use a network of namespace {own}",
}

pod_with(networks) := json.patch(examples.bad_pod, [{
	"op": "replace",
	"path": "/podSets/0/annotations/k8s.v1.cni.cncf.io~1networks",
	"value": networks,
}])

test_networks_of_other_namespaces_are_found_in_both_forms if {
	check.deny == {
		found("/metadata", "the pod", `"research-vision"`, "research-nlp"),
		found("/metadata", "the pod", `"storage"`, "research-nlp"),
	} with input as examples.bad_pod
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/metadata",
		"Worker",
		`"research-vision"`,
		"research-nlp",
	)} with input as examples.bad_pytorchjob
}

test_each_template_is_looked_at if {
	check.deny == {found("/spec/template/metadata", "the pod", `"storage"`, "serving-chat")} with input as examples.bad_deployment
}

test_networks_of_the_own_namespace_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_json
}

test_networks_for_everybody_are_good if {
	check.deny == set() with input as examples.good_shared
}

test_what_multus_could_not_read_names_nothing if {
	check.deny == set() with input as pod_with(`[{"name": "roce", "namespace": "storage"}`)
	check.deny == set() with input as pod_with(`["storage/roce", {"name": "roce"}]`)
	check.deny == set() with input as pod_with(`"storage/roce"`)
	check.deny == set() with input as pod_with(`[{"name": "roce", "namespace": 7}]`)
	check.deny == set() with input as pod_with("")
	check.deny == set() with input as pod_with("storage/a/b")
}

test_spaces_around_a_namespace_do_not_count if {
	check.deny == {found("/metadata", "the pod", `"storage"`, "research-nlp")} with input as pod_with(" storage /roce@net1")
}

test_a_single_object_is_json_too if {
	check.deny == set() with input as pod_with(`{"name": "a,storage/roce"}`)
}

test_system_namespaces_may_join_any if {
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"systemNamespace": true}})
}

test_without_a_namespace_it_cannot_be_told if {
	check.deny == set() with input as examples.unknown_pod
	check.unknown == {{
		"path": "/metadata/annotations/k8s.v1.cni.cncf.io~1networks",
		"reason": `the pod joins a network of namespace "storage", and usher does not know the namespace of the pods`,
	}} with input as examples.unknown_pod
	check.unknown == set() with input as examples.bad_pod
}

test_networks_of_the_fabric_are_good_and_their_neighbours_are_found if {
	rails := {"fabrics": {"rails": {"networks": ["storage/rail-0@net1", "rail-1"]}}}
	by_text := object.union(pod_with("storage/rail-0@net1, storage/rail-2"), rails)
	check.deny == {found("/metadata", "the pod", `"storage"`, "research-nlp")} with input as by_text
	declared := object.union(pod_with("storage/rail-0@net1"), rails)
	check.deny == set() with input as declared
	by_json := object.union(pod_with(`[{"namespace": "storage", "name": "rail-0"}]`), rails)
	check.deny == set() with input as by_json
}
