# METADATA
# title: Kueue
# description: What a workload says to Kueue, and what Kueue does for it.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.kueue

import data.usher.lib.amounts
import data.usher.lib.parameters

# METADATA
# title: Label that puts a workload into a LocalQueue of its own namespace
queue_label := "kueue.x-k8s.io/queue-name"

# METADATA
# title: Annotation of a pod template for pods that must be in one domain
required_topology := "kueue.x-k8s.io/podset-required-topology"

# METADATA
# title: Annotation of a pod template for pods that should be in one domain
preferred_topology := "kueue.x-k8s.io/podset-preferred-topology"

# METADATA
# title: Annotation of a pod template for pods that may be anywhere, but are placed by Kueue
unconstrained_topology := "kueue.x-k8s.io/podset-unconstrained-topology"

# METADATA
# title: Annotation of a pod template for slices of which each must be in one domain
slice_topology := "kueue.x-k8s.io/podset-slice-required-topology"

# METADATA
# title: Annotation of a pod template with the pods of one slice
slice_size := "kueue.x-k8s.io/podset-slice-size"

# METADATA
# title: Annotation of a pod template for slices of slices
slice_constraints := "kueue.x-k8s.io/podset-slice-required-topology-constraints"

# METADATA
# title: Annotation of a pod template that is placed together with another
pod_set_group := "kueue.x-k8s.io/podset-group-name"

# METADATA
# title: Annotations of a pod template that ask Kueue to place the pods by topology
topology_annotations := {
	required_topology,
	preferred_topology,
	unconstrained_topology,
	slice_topology,
	slice_constraints,
}

# METADATA
# title: The workload's labels, where Kueue reads them
labels := input.workload.labels if input.workload.queueLabelPath == "/metadata"

labels := input.workload.queueLabels

# METADATA
# title: Name of the workload's queue
# description: Undefined where there is none. An empty name is none, to the API as well as to Kueue.
queue_name := name if {
	name := labels[queue_label]
	name != ""
}

# METADATA
# title: Whether the workload names a queue where Kueue reads it
in_queue if queue_name

# METADATA
# title: Whether the workload is in no queue, and goes into the one that usher.yaml declares for it
joins_declared_queue if {
	input.site.queue
	not input.workload.owned
	input.workload.queueLabelPath
	not in_queue
	not left_out
}

# METADATA
# title: The queue that usher.yaml declares, as something that must be there
need_of_queue := {
	"group": "kueue.x-k8s.io",
	"kind": "LocalQueue",
	"name": input.site.queue.localQueue,
	"namespace": input.workload.namespace,
}

# METADATA
# title: Whether Kueue makes one workload of the object, from the labels of the object itself
# description: |
#   Of a Pod and a Deployment it does not: it queues their pods one by one. All other kinds come to it as the pods or the
#   jobs that they make (docs/domain/kueue.md#integrations).
queued_as_one if input.workload.kind in _queued_as_one[input.workload.group]

_queued_as_one := {
	"apps": {"StatefulSet"},
	"batch": {"Job"},
	"jobset.x-k8s.io": {"JobSet"},
	"kubeflow.org": {"JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"},
	"leaderworkerset.x-k8s.io": {"LeaderWorkerSet"},
	"ray.io": {"RayCluster", "RayJob", "RayService"},
	"sagemaker.amazonaws.com": {"HyperPodPyTorchJob"},
	"sparkoperator.k8s.io": {"SparkApplication"},
	"trainer.kubeflow.org": {"TrainJob"},
	"workload.codeflare.dev": {"AppWrapper"},
}

# METADATA
# title: Integration of Kueue that the kind comes to it by
# description: |
#   As integrations.frameworks of Kueue's configuration lists it; undefined for kinds that come to it as what they make,
#   and for HyperPod's, which comes as an external framework.
framework := lower(input.workload.kind) if {
	input.workload.group in {"", "apps"}
	input.workload.queueLabelPath
}

framework := lower($"{input.workload.group}/{input.workload.kind}") if {
	queued_as_one
	not input.workload.group in {"apps", "sagemaker.amazonaws.com"}
}

# METADATA
# title: Integrations that Kueue's configuration lists
# description: As usher.yaml says, or else as Kueue's ConfigMap in the cluster does; empty where neither is known.
frameworks := declared if {
	declared := parameters.queueing.integration_not_enabled.frameworks
	declared != []
} else := known if {
	known := input.cluster.kueue.frameworks
} else := []

# METADATA
# title: Whether Kueue's configuration leaves the kind out
# description: As far as usher.yaml or the cluster tells.
left_out if {
	frameworks != []
	not framework in frameworks
	framework
}

# METADATA
# title: Field with the labels that Kueue reads, as people write it
label_field := $"{replace(trim_prefix(input.workload.queueLabelPath, "/"), "/", ".")}.labels"

# METADATA
# title: Path of a label that Kueue reads
label_path(key) := $"{input.workload.queueLabelPath}/labels/{escaped(key)}"

# METADATA
# title: Path of an annotation of a pod template
annotation_path(pod_set, key) := $"{pod_set.metadataPath}/annotations/{escaped(key)}"

# METADATA
# title: A key as it stands in a JSON Pointer
escaped(key) := replace(key, "/", "~1")

# METADATA
# title: Whether somebody asks who is known as none of these identities
# description: Where nobody asks, as in CI, it cannot be told by whose hand the object was written.
asked_by_none_of(identities) if {
	by := input.review.by
	every name in by {
		not name in identities
	}
}

# METADATA
# title: Whether a text can be the name of an object
# description: A DNS-1123 subdomain, as the API server checks it.
is_object_name(text) if {
	count(text) <= 253
	every part in split(text, ".") {
		part != ""
		trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
		not startswith(part, "-")
		not endswith(part, "-")
	}
}

# METADATA
# title: Whether Kueue selects the nodes
# description: A queue's flavors carry node labels, which Kueue adds to the pods when it admits the workload.
places_pods if in_queue

places_pods if {
	input.workload.queueLabelPath
	input.site.queue.placesPods
}

# METADATA
# title: Whether any pod set asks Kueue to place its pods by topology
asks_topology if {
	some pod_set in input.podSets
	some annotation in topology_annotations
	pod_set.annotations[annotation]
}

# METADATA
# title: Pod sets that say anything about topology to Kueue
# description: A list, because a set would compute the hash of whole pod sets.
topology_pod_sets := [pod_set |
	some pod_set in input.podSets
	_speaks_of_topology(pod_set.annotations)
]

_speaks_of_topology(annotations) if {
	some annotation, _ in annotations
	startswith(annotation, "kueue.x-k8s.io/podset-")
}

# METADATA
# title: The whole number that a text is
# description: |
#   Undefined where it is none, as Go reads it; what has more than nine digits is more than Kueue has room for.
whole_number(text) := 0 if {
	_digits(text) == ""
} else := to_number(digits) if {
	digits := _digits(text)
	count(digits) <= 9
}

# Without a sign and leading zeros, which JSON does not allow a number to have.
_digits(text) := trim_left(unsigned, "0") if {
	unsigned := trim_prefix(text, "+")
	unsigned != ""
	trim(unsigned, "0123456789") == ""
}

# METADATA
# title: Whether Kueue's webhooks look at the groups that the pod sets of the kind form
# description: They look at the annotations of every pod template, but not of every kind at all templates together.
judges_groups if input.workload.kind in {
	"JobSet",
	"LeaderWorkerSet",
	"MPIJob",
	"RayCluster",
	"RayJob",
	"RayService",
}

# METADATA
# title: Ray cluster that the object makes
# description: Its spec and where that stands; undefined for a job that runs on a cluster that is there already.
ray_cluster := {"path": "/spec", "spec": input.object.rayCluster.spec}

ray_cluster := {"path": "/spec/rayClusterSpec", "spec": job.rayClusterSpec} if {
	job := input.object.rayJob.spec
	not ray_job_selects_its_cluster
}

ray_cluster := {"path": "/spec/rayClusterConfig", "spec": input.object.rayService.spec.rayClusterConfig}

# METADATA
# title: Whether a RayJob runs on a cluster that is there already
# description: An empty selector selects none, and the job makes its own.
ray_job_selects_its_cluster if count(input.object.rayJob.spec.clusterSelector) > 0

# METADATA
# title: Resource groups of a ClusterQueue or a Cohort
resource_groups := input.object.clusterQueue.spec.resourceGroups

resource_groups := input.object.cohort.spec.resourceGroups

# METADATA
# title: Quotas of a ClusterQueue or a Cohort
# description: Every quota with its place and the name of its flavor.
quotas := [entry |
	some i, group in resource_groups
	some j, flavor in group.flavors
	some k, quota in flavor.resources

	entry := {
		"path": $"/spec/resourceGroups/{i}/flavors/{j}/resources/{k}",
		"flavor": object.get(flavor, "name", ""),
		"resource": object.get(quota, "name", ""),
		"quota": quota,
	}
]

# METADATA
# title: An amount of a resource, as people say it
amount(resource, quantity) := amounts.bytes(quantity.value) if resource == "memory"

amount(resource, quantity) := quantity.text if resource != "memory"

# METADATA
# title: Whether a ClusterQueue is in a cohort
# description: By the field of either version. An empty name is none.
in_cohort if {
	some field in ["cohortName", "cohort"]
	input.object.clusterQueue.spec[field] != ""
}
