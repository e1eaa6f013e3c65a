package usher.checks.queueing.scheduler_configuration_without_effect_test

import data.examples.checks.queueing.scheduler_configuration_without_effect as examples
import data.usher.checks.queueing.scheduler_configuration_without_effect as check

found(message, remedy) := {
	"path": "/data/volcano-scheduler.conf",
	"message": $"the configuration \"volcano-scheduler.conf\" {message}",
	"remedy": remedy,
}

of_files := {"assumption": "usher assumes that this scheduler places the pods of these files"}

placing(example, names) := object.union(example, {"beside": {"placed": names}})

test_an_action_that_does_not_exist_is_found if {
	check.deny == {found(
		`names the action "preemption", which does not exist, so the scheduler refuses it`,
		"correct the name of the action",
	)} with input as examples.bad_action
}

test_plugins_that_exclude_each_other_are_found if {
	check.deny == {found(
		"has the plugin proportion beside drf with enabledHierarchy, so Volcano refuses it",
		"remove one of the two",
	)} with input as examples.bad_hierarchy
	check.deny == {found(
		"switches on GPUSharingEnable and VGPUEnable of the plugin deviceshare, and Volcano ends with both",
		"keep one of them",
	)} with input as examples.bad_two_ways
}

test_two_divisions_and_an_old_argument_are_found if {
	check.deny == {found(
		"has the plugins proportion and capacity, which both divide the cluster among queues",
		"remove one of the two",
	)} with input as examples.bad_two_shares
	check.deny == {found(
		"has the argument predicate.VGPUEnable, which the plugin predicates of current versions does not read",
		"add the plugin deviceshare with the argument deviceshare.VGPUEnable: true",
	)} with input as examples.bad_old_argument
}

test_priorities_need_the_action_preempt if {
	check.deny == {object.union(of_files, found(
		"lacks the action preempt, so the priorities of pods in these files only decide who starts first",
		"add preempt to actions",
	))} with input as placing(examples.good_default, ["priority"])
	check.deny == set() with input as placing(examples.good_preempt, ["priority"])
}

test_gangs_need_their_plugin if {
	check.deny == {object.union(of_files, found(
		"lacks the plugin gang, so minAvailable and minMember of these files have no effect",
		"add the plugin gang",
	))} with input as placing(examples.good_without_gang, ["gang"])
	check.deny == set() with input as placing(examples.good_default, ["gang"])
	check.deny == set() with input as placing(examples.good_kai, ["gang"])
}

test_virtual_gpus_need_deviceshare if {
	check.deny == {object.union(of_files, found(
		"does not switch on deviceshare.VGPUEnable, so Volcano chooses no GPU for pods of these files with volcano.sh/vgpu-*",
		"add the plugin deviceshare with the argument deviceshare.VGPUEnable: true",
	))} with input as placing(examples.good_default, ["vgpu"])
	check.deny == set() with input as placing(examples.good_vgpu, ["vgpu"])
}

test_a_configuration_alone_is_good if {
	every example in [examples.good_default, examples.good_without_gang, examples.good_kai, examples.good_vgpu] {
		check.deny == set() with input as example
	}
}

with_plugins(example, plugins) := object.union(example, {"object": {"configMap": {"data": {"volcano-scheduler.conf": {"tiers": [{"plugins": plugins}]}}}}})

test_each_plugin_is_good_alone if {
	every plugins in [
		[{"name": "drf", "enabledHierarchy": true}],
		[{"name": "drf", "enabledHierarchy": false}, {"name": "proportion"}],
		[{"name": "capacity", "enabledHierarchy": true}],
		[{"name": "deviceshare", "arguments": {"deviceshare.VGPUEnable": true, "deviceshare.GPUSharingEnable": false}}],
		[{"name": "deviceshare", "arguments": {"deviceshare.VGPUEnable": true, "deviceshare.NodeLockEnable": true}}],
	] {
		check.deny == set() with input as with_plugins(examples.good_default, plugins)
	}
}

test_a_text_without_tiers_is_no_configuration if {
	check.deny == set() with input as object.union(examples.bad_action, {"object": {"configMap": {"data": {"volcano-scheduler.conf": {"tiers": []}}}}})
}

test_a_comma_at_the_end_names_no_action if {
	check.deny == set() with input as object.union(examples.good_default, {"object": {"configMap": {"data": {"volcano-scheduler.conf": {"actions": "enqueue, allocate, "}}}}})
}
