package usher.checks.priority.priority_number_by_hand_test

import data.examples.checks.priority.priority_number_by_hand as examples
import data.usher.checks.priority.priority_number_by_hand as check

found(path, name, number) := {{
	"path": $"{path}/priority",
	"message": $"{name} sets priority {number} without a class, so the API server refuses the pods",
	"remedy": "remove priority, and name a priority class",
}}

test_a_number_without_class_is_found if {
	check.deny == found("/spec/template/spec", "the pod", 1000000) with input as examples.bad_job
	check.deny == found("/spec", "the pod", 1000) with input as examples.bad_pod
	check.unknown == set() with input as examples.bad_pod
}

test_a_number_below_0_is_found_and_pods_without_accelerators_are_judged if {
	launcher := "/spec/mpiReplicaSpecs/Launcher/template/spec"
	check.deny == found(launcher, "Launcher", -10) with input as examples.bad_mpijob
	check.unknown == set() with input as examples.bad_mpijob
}

test_0_is_what_pods_without_class_get if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_on_pods_kubernetes_has_filled_in_both if {
	check.deny == set() with input as examples.good_pod_as_kubernetes_fills_it_in
	check.unknown == set() with input as examples.good_pod_as_kubernetes_fills_it_in
}

test_of_a_number_beside_a_class_it_is_unknown if {
	check.deny == set() with input as examples.unknown_deployment
	check.unknown == {{
		"path": "/spec/template/spec/priority",
		"reason": "usher does not know whether priority class serving has the value 1000; if not, the API server refuses the pods",
	}} with input as examples.unknown_deployment
	without := json.patch(examples.unknown_deployment, [{"op": "remove", "path": "/podSets/0/priority"}])
	check.unknown == set() with input as without
}

test_a_preemption_policy_that_the_class_does_not_have_is_found if {
	never := json.patch(examples.bad_job, [
		{"op": "remove", "path": "/podSets/0/priority"},
		{"op": "add", "path": "/podSets/0/preemptionPolicy", "value": "Never"},
	])
	check.deny == refused("a pod without a class", {"assumption": "usher assumes that no class with this policy is the default"}) with input as never
	named := json.patch(never, [{"op": "replace", "path": "/podSets/0/priorityClassName", "value": "research"}])
	check.deny == refused("priority class research", {}) with input as object.union(named, {"cluster": classes(true)})
	check.deny == set() with input as object.union(named, {"cluster": classes(false)})
	check.deny == set() with input as named
}

refused(from, assumption) := {object.union(
	{
		"path": "/spec/template/spec/preemptionPolicy",
		"message": $"the pod sets preemptionPolicy Never, but {from} has another one, so the API server refuses the pods",
		"remedy": "remove preemptionPolicy, and name a class that has it",
	},
	assumption,
)}

classes(preempts) := {"priorities": {"classes": {"research": {"exists": true, "value": 1000, "preempts": preempts}}}}
