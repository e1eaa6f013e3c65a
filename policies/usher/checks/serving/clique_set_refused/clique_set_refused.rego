# METADATA
# title: Grove accepts the PodCliqueSet
# description: |
#   Grove's webhook refuses a PodCliqueSet whose numbers, names or schedulers contradict each other, and one for
#   KAI-Scheduler that names no queue or several. A file says so before the cluster does. The check has a rule for each
#   reason that people meet.
# scope: package
# related_resources:
#   - ref: https://github.com/ai-dynamo/grove/blob/main/operator/internal/webhook/admission/pcs/validation/podcliqueset.go
#     description: What Grove refuses
#   - ref: https://github.com/ai-dynamo/grove/blob/main/operator/internal/scheduler/kai/backend.go
#     description: The queue of KAI-Scheduler
# schemas:
#   - input: schema.input
# custom:
#   code: USH1050
#   about: pods
#   severity: medium
#   why: The object is refused, and no pod is made.
#   closes: [S24, S25]
#   remediation: Change the field that the message names.
package usher.checks.serving.clique_set_refused

import data.usher.lib.grove
import data.usher.lib.kai
import data.usher.lib.text

deny contains object.union(finding, {"path": path}) if {
	not input.workload.owned
	some [path, finding] in _refused
}

_refused contains [$"{clique.path}/spec/minAvailable", finding] if {
	some clique in grove.cliques
	clique.minimum > clique.replicas
	finding := _more("minAvailable", clique.minimum, "replicas", clique.replicas)
}

_refused contains [$"{group.path}/minAvailable", finding] if {
	some group in grove.groups
	group.minimum > group.replicas
	finding := _more("minAvailable", group.minimum, "replicas", group.replicas)
}

_refused contains [$"{clique.path}/spec/autoScalingConfig/minReplicas", finding] if {
	some clique in grove.cliques
	lowest := clique.spec.autoScalingConfig.minReplicas
	lowest < clique.minimum
	finding := _more("minAvailable", clique.minimum, "minReplicas", lowest)
}

_refused contains [$"{clique.path}/spec/autoScalingConfig/maxReplicas", finding] if {
	some clique in grove.cliques
	most := clique.spec.autoScalingConfig.maxReplicas
	most < clique.replicas
	finding := _more("replicas", clique.replicas, "maxReplicas", most)
}

_refused contains [$"{clique.path}/spec/autoScalingConfig", finding] if {
	some clique in grove.cliques
	clique.spec.autoScalingConfig
	some group in grove.groups
	clique.name in group.cliques

	finding := {
		"message": $"Grove refuses autoScalingConfig of clique {text.excerpt(clique.name)}, because scaling group {text.excerpt(group.name)} scales it",
		"remedy": "use scaleConfig of the scaling group",
	}
}

_refused contains [$"{group.path}/cliqueNames/{index}", finding] if {
	some group in grove.groups
	some index, name in group.cliques
	not name in grove.names

	finding := {
		"message": $"Grove refuses scaling group {text.excerpt(group.name)}, because no clique has the name {text.excerpt(name)}",
		"remedy": "name a clique of the set",
	}
}

_refused contains [$"{group.path}/cliqueNames/{index}", finding] if {
	some group in grove.groups
	some index, name in group.cliques
	some other in grove.groups
	other.path < group.path
	name in other.cliques

	finding := {
		"message": $"Grove refuses clique {text.excerpt(name)} in the scaling groups {text.excerpt(other.name)} and {text.excerpt(group.name)}",
		"remedy": "name each clique in one scaling group",
	}
}

_refused contains [$"{pod_set.specPath}/schedulerName", finding] if {
	some pod_set in input.podSets
	first := grove.schedulers[0]
	pod_set.schedulerName != first

	finding := object.union(_assumption(pod_set), {
		"message": $"Grove refuses cliques of several schedulers ({first}, {_scheduler(pod_set)})",
		"remedy": $"set schedulerName to {first} in every clique",
	})
}

_refused contains ["", finding] if {
	grove.clique_set
	kai.places_pods
	_queues == set()

	finding := {
		"message": "Grove refuses a PodCliqueSet for KAI-Scheduler without a queue",
		"remedy": "name a queue in the label kai.scheduler/queue of the set or of its cliques",
	}
}

_refused contains ["", finding] if {
	grove.clique_set
	kai.places_pods
	count(_queues) > 1

	finding := {
		"message": $"Grove refuses a PodCliqueSet that names several queues of KAI-Scheduler ({concat(", ", sort(_queues))})",
		"remedy": "name one queue in the label kai.scheduler/queue of the set",
	}
}

_scheduler(pod_set) := pod_set.schedulerName if pod_set.schedulerName != ""

_scheduler(pod_set) := "default-scheduler" if pod_set.schedulerName == ""

_assumption(pod_set) := {"assumption": "usher assumes that the default scheduler is the default of Grove"} if {
	pod_set.schedulerName == ""
} else := {}

# Grove reads the label, and else the annotation.
_queues := {queue |
	some place in array.concat([input.workload], input.podSets)
	queue := _queue(place)
	queue != ""
}

_key := "kai.scheduler/queue"

_queue(place) := place.labels[_key] if {
	place.labels[_key] != ""
} else := object.get(place.annotations, _key, "")

_more(name, number, other, limit) := {
	"message": $"Grove refuses {name} {number} above {other} {limit}",
	"remedy": $"set {name} to {limit} at most",
}
