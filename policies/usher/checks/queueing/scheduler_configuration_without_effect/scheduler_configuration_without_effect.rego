# METADATA
# title: The configuration of Volcano and KAI-Scheduler does what their pods need
# description: |
#   Volcano and KAI-Scheduler read their actions and plugins from a ConfigMap. With an action that does not exist, or with
#   plugins that exclude each other, the scheduler refuses the configuration or ends. Without the action preempt, the
#   priority of a pod only decides its place in the queue, and no pod ever makes room for it. Without the plugin gang,
#   minAvailable has no effect. Without the plugin deviceshare and its argument deviceshare.VGPUEnable, Volcano places pods
#   with volcano.sh/vgpu-* without choosing a GPU, and they do not start. usher looks for these pods in the files of the
#   run; a configuration alone is good without preempt, as Volcano's own is.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/actions/
#     description: Volcano on its actions
#   - ref: https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/deviceshare/deviceshare.go
#     description: Volcano on the arguments of the plugin deviceshare
# schemas:
#   - input: schema.input
# custom:
#   code: USH454
#   about: objects
#   kinds: [configMap]
#   severity: medium
#   why: Pods wait, or start without their gang or their GPU, and nothing says why.
#   closes: [S26]
#   remediation: Add the action or the plugin, or remove what contradicts it.
package usher.checks.queueing.scheduler_configuration_without_effect

import data.usher.lib.text

# pkg/scheduler/actions/factory.go of volcano-sh/volcano ed72c7c and of NVIDIA/KAI-Scheduler 72de64f.
_actions := [
	"allocate", "backfill", "consolidation", "enqueue", "gangpreempt", "gangreclaim",
	"preempt", "reclaim", "shuffle", "stalegangeviction",
]

deny contains finding if {
	some scheduler in _schedulers
	some action in scheduler.actions
	not action in _actions
	finding := _finding(scheduler, $"names the action {text.excerpt(action)}, which does not exist, so the scheduler refuses it", "correct the name of the action")
}

deny contains finding if {
	some scheduler in _schedulers
	some plugin in scheduler.plugins
	plugin.name == "drf"
	plugin.enabledHierarchy
	_has(scheduler, "proportion")
	finding := _finding(scheduler, "has the plugin proportion beside drf with enabledHierarchy, so Volcano refuses it", "remove one of the two")
}

deny contains finding if {
	some scheduler in _schedulers
	ways := sort([trim_prefix(argument, "deviceshare.") |
		some plugin in scheduler.plugins
		some argument, on in plugin.arguments
		on
		argument in ["deviceshare.GPUSharingEnable", "deviceshare.GPUNumberEnable", "deviceshare.VGPUEnable"]
	])
	count(ways) > 1
	finding := _finding(scheduler, $"switches on {concat(" and ", ways)} of the plugin deviceshare, and Volcano ends with both", "keep one of them")
}

deny contains finding if {
	some scheduler in _schedulers
	_has(scheduler, "proportion")
	_has(scheduler, "capacity")
	finding := _finding(scheduler, "has the plugins proportion and capacity, which both divide the cluster among queues", "remove one of the two")
}

deny contains finding if {
	some scheduler in _schedulers
	some plugin in scheduler.plugins
	some argument, on in plugin.arguments
	on
	argument in ["predicate.GPUSharingEnable", "predicate.GPUNumberEnable", "predicate.VGPUEnable"]
	right := replace(argument, "predicate.", "deviceshare.")
	not _switches_on(scheduler, right)
	finding := _finding(scheduler, $"has the argument {argument}, which the plugin {plugin.name} of current versions does not read", $"add the plugin deviceshare with the argument {right}: true")
}

_switches_on(scheduler, argument) if {
	some plugin in scheduler.plugins
	plugin.arguments[argument]
}

deny contains object.union(finding, _of_files) if {
	some scheduler in _schedulers
	"priority" in input.beside.placed
	not _preempts(scheduler)
	finding := _finding(scheduler, "lacks the action preempt, so the priorities of pods in these files only decide who starts first", "add preempt to actions")
}

deny contains object.union(finding, _of_files) if {
	some scheduler in _schedulers
	"gang" in input.beside.placed
	not _is_kai(scheduler)
	not _has(scheduler, "gang")
	finding := _finding(scheduler, "lacks the plugin gang, so minAvailable and minMember of these files have no effect", "add the plugin gang")
}

deny contains object.union(finding, _of_files) if {
	some scheduler in _schedulers
	"vgpu" in input.beside.placed
	not _switches_on(scheduler, "deviceshare.VGPUEnable")
	not _switches_on(scheduler, "predicate.VGPUEnable")
	finding := _finding(scheduler, "does not switch on deviceshare.VGPUEnable, so Volcano chooses no GPU for pods of these files with volcano.sh/vgpu-*", "add the plugin deviceshare with the argument deviceshare.VGPUEnable: true")
}

_of_files := {"assumption": "usher assumes that this scheduler places the pods of these files"}

_schedulers := [scheduler |
	some key, configuration in input.object.configMap.data
	count(configuration.tiers) > 0
	scheduler := {
		"key": key,
		"actions": [name | some part in split(configuration.actions, ","); name := trim_space(part); name != ""],
		"plugins": [plugin | some tier in configuration.tiers; some plugin in tier.plugins],
	}
]

_has(scheduler, name) if {
	some plugin in scheduler.plugins
	plugin.name == name
}

_preempts(scheduler) if {
	some action in scheduler.actions
	action in ["preempt", "gangpreempt"]
}

_is_kai(scheduler) if {
	some action in scheduler.actions
	action in ["consolidation", "stalegangeviction"]
}

_finding(scheduler, text_of, remedy) := {
	"path": $"/data/{replace(replace(scheduler.key, "~", "~0"), "/", "~1")}",
	"message": $"the configuration {text.excerpt(scheduler.key)} {text_of}",
	"remedy": remedy,
}
