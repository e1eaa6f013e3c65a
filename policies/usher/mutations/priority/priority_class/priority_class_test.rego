package usher.mutations.priority.priority_class_test

import data.examples.mutations.priority.priority_class as examples
import data.usher.mutations.priority.priority_class as mutation

skipped(reason) := {{"at": "", "reason": reason}}

given(at, class) := {
	"at": at,
	"field": "priorityClass",
	"value": {"name": class},
	"reason": $"usher.yaml names class {class} for this workload",
	"needs": [{"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": class}],
}

gang := {
	"at": "",
	"field": "gangSetting",
	"value": {"setting": "priorityClass", "value": "training"},
	"reason": "Volcano orders gangs by the class of the gang",
	"needs": [{"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "training"}],
}

pytorchjob := {
	given("/spec/pytorchReplicaSpecs/Master/template", "training"),
	given("/spec/pytorchReplicaSpecs/Worker/template", "training"),
}

test_all_templates_of_a_job_get_one_class if {
	mutation.intents == pytorchjob with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_the_class_depends_on_role_and_size if {
	mutation.intents == {given("/spec/template", "research")} with input as examples.before_job
	mutation.intents == set() with input as examples.untouched_large_job
	mutation.skips == skipped("usher.yaml names no priority class for this workload") with input as examples.untouched_large_job
}

test_on_volcano_the_gang_gets_the_same_class if {
	mutation.intents == pytorchjob | {gang} with input as examples.before_pytorchjob_on_volcano
	templates := {given("/spec/tasks/0/template", "training"), given("/spec/tasks/1/template", "training")}
	mutation.intents == templates | {gang} with input as examples.before_volcano_job
}

test_what_kuberay_makes_up_itself_needs_no_class if {
	mutation.intents == {
		given("/spec/rayClusterSpec/headGroupSpec/template", "training"),
		given("/spec/rayClusterSpec/workerGroupSpecs/0/template", "training"),
	} with input as examples.before_rayjob
}

test_of_a_pod_the_default_of_the_cluster_gives_way if {
	value := {"name": "research", "instead": "standard"}
	mutation.intents == {object.union(given("", "research"), {"value": value})} with input as examples.before_pod
}

test_without_a_declared_default_a_pod_keeps_its_class if {
	undeclared := json.remove(examples.before_pod, ["/site/globalDefaultPriority"])
	mutation.intents == set() with input as undeclared
	mutation.skips == skipped(`the workload already has class "standard", and all of its pods need the same class`) with input as undeclared
}

test_a_template_that_names_the_default_of_the_cluster_chose_it if {
	chosen := json.patch(examples.before_job, [{"op": "replace", "path": "/podSets/0/priorityClassName", "value": "standard"}])
	mutation.intents == set() with input as chosen
}

test_a_class_that_is_named_anywhere_in_the_workload_decides_for_all_of_it if {
	reason := `the workload already has class "urgent", and all of its pods need the same class`
	every example in [
		examples.untouched_pod_with_a_class,
		examples.untouched_pytorchjob_with_a_class_in_one_template,
		examples.untouched_volcano_job_with_a_class,
		object.union(examples.before_pytorchjob_on_volcano, {"workload": {"gang": {"priorityClass": "urgent"}}}),
	] {
		mutation.intents == set() with input as example
		mutation.skips == skipped(reason) with input as example
	}
}

test_what_was_given_in_part_is_completed if {
	half := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/podSets/0/priorityClassName", "value": "training"}])
	mutation.intents == pytorchjob with input as half
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pod_of_a_job
	mutation.skips == skipped("a controller made this object from a template that already has its class, or has no class on purpose") with input as examples.untouched_pod_of_a_job
}

test_templates_that_cannot_be_changed_are_left_alone if {
	reason := "a change to the template of node would not reach its pods, and all pods need the same class"
	mutation.intents == set() with input as examples.untouched_trainjob
	mutation.skips == skipped(reason) with input as examples.untouched_trainjob
}

test_where_nothing_is_declared_nothing_is_given if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_elsewhere
}

test_pods_of_a_group_only_get_its_class if {
	patched := json.patch(examples.before_job, [{"op": "add", "path": "/podSets/0/schedulingGroup", "value": "pretrain"}])
	reason := `its pods name PodGroup "pretrain" of Kubernetes, and no pod is scheduled unless the group has the same class`
	mutation.intents == set() with input as patched
	mutation.skips == {{"at": "", "reason": reason}} with input as patched
	group := {"of": "the scheduler of Kubernetes", "name": "pretrain", "priorityClass": "research"}
	known := object.union(patched, {"cluster": {"podGroups": {"named": [group]}}})
	count(mutation.intents) == 1 with input as known
}
