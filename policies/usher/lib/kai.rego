# METADATA
# title: KAI-Scheduler
# description: |
#   The labels by which a workload names its queue and its priority class. KAI-Scheduler reads them on the outermost owner
#   and then on the pod (pkg/podgrouper/podgrouper/plugins/defaultgrouper of NVIDIA/KAI-Scheduler).
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.kai

import data.usher.lib.routing

# METADATA
# title: Whether KAI-Scheduler places pods of the workload
# description: |
#   Under its usual names, and under those of usher.yaml. KubeRay and Dynamo themselves name it for objects with a
#   queue.
places_pods if {
	some pod_set in input.podSets
	pod_set.schedulerName in ["kai-scheduler", "runai-scheduler"]
}

places_pods if {
	some pod_set in input.podSets
	pod_set.schedulerName in input.site.kaiSchedulers
}

places_pods if {
	input.workload.group == "ray.io"
	input.workload.labels[routing.kai_queue_label]
}

# Dynamo's operator names it for deployments with a queue, if it is configured for it.
places_pods if input.workload.annotations["nvidia.com/kai-scheduler-queue"]

# METADATA
# title: Queues that the workload names
# description: With their paths. Without the label of a queue, KAI-Scheduler takes the label `project` for its name.
queues := array.concat(_labelled(routing.kai_queue_label), _projects)

# METADATA
# title: Priority classes that the workload names by label
# description: With their paths. The label counts where the pods name no class themselves.
priority_classes := [entry |
	places_pods
	some entry in _labelled("priorityClassName")
]

_projects := [entry |
	places_pods
	_labelled(routing.kai_queue_label) == []
	some entry in _labelled("project")
]

_labelled(key) := [entry |
	some place in _places
	name := place.labels[key]
	name != ""
	entry := {"path": $"{place.path}/labels/{replace(key, "/", "~1")}", "name": name}
]

# A Pod is its own template, so its labels come twice.
_places := array.concat(
	[{"path": "/metadata", "labels": input.workload.labels}],
	[{"path": pod_set.metadataPath, "labels": pod_set.labels} |
		some pod_set in input.podSets
		pod_set.metadataPath != "/metadata"
	],
)
