# METADATA
# title: Kueue
# description: Settings of a workload for Kueue, and what Kueue does with the workload.
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
# title: The controller that MultiKueue is, in managedBy of a job
multikueue := "kueue.x-k8s.io/multikueue"

# METADATA
# title: Annotation of a pod template for pods that must be in one domain
required_topology := "kueue.x-k8s.io/podset-required-topology"

# METADATA
# title: Annotation of a pod template for pods that should be in one domain
preferred_topology := "kueue.x-k8s.io/podset-preferred-topology"

# METADATA
# title: Annotation of a pod template for pods that Kueue may place anywhere
unconstrained_topology := "kueue.x-k8s.io/podset-unconstrained-topology"

# METADATA
# title: Annotation of a pod template for slices that must each be in one domain
slice_topology := "kueue.x-k8s.io/podset-slice-required-topology"

# METADATA
# title: Annotation of a pod template with the number of pods in one slice
slice_size := "kueue.x-k8s.io/podset-slice-size"

# METADATA
# title: Annotation of a pod template for slices of slices
slice_constraints := "kueue.x-k8s.io/podset-slice-required-topology-constraints"

# METADATA
# title: Annotation of pod templates that Kueue places together
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
labels := told if {
	told := input.workload.queueLabels
} else := input.workload.labels if input.workload.queueLabelPath == "/metadata"

# METADATA
# title: Name of the workload's queue
# description: Undefined if the workload names no queue. The API and Kueue both read an empty name as no queue.
queue_name := name if {
	name := labels[queue_label]
	name != ""
}

# METADATA
# title: Whether the workload names a queue where Kueue reads it
in_queue if queue_name

# METADATA
# title: Whether the workload has no queue yet, and usher.yaml names one for it
could_join_declared_queue if {
	input.site.queue
	not input.workload.owned
	input.workload.queueLabelPath
	not in_queue
	not left_out
}

# METADATA
# title: The queue of usher.yaml, as an object that must exist
need_of_queue := {
	"group": "kueue.x-k8s.io",
	"kind": "LocalQueue",
	"name": input.site.queue.localQueue,
	"namespace": input.workload.namespace,
}

# METADATA
# title: Whether Kueue makes one workload of the object, from the object's own labels
# description: |
#   False for a Pod and a Deployment, because Kueue queues their pods one by one. Kueue sees all other kinds as the pods
#   or jobs that they make (docs/domain/kueue.md#integrations).
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
# title: Kueue integration for the kind
# description: |
#   The name in integrations.frameworks of Kueue's configuration. Undefined for kinds that Kueue sees only as the pods
#   or jobs that they make. Also undefined for HyperPod's kind, which is an external framework.
framework := lower(input.workload.kind) if {
	input.workload.group in ["", "apps"]
	input.workload.queueLabelPath
}

framework := lower($"{input.workload.group}/{input.workload.kind}") if {
	queued_as_one
	not input.workload.group in ["apps", "sagemaker.amazonaws.com"]
}

# METADATA
# title: Integrations that Kueue's configuration lists
# description: From usher.yaml, or else from Kueue's ConfigMap in the cluster. Empty if usher knows neither.
frameworks := _declared_frameworks if {
	_declared_frameworks != []
} else := known if {
	known := input.cluster.kueue.frameworks
} else := []

# METADATA
# title: Whether Kueue's configuration does not enable the kind
# description: As far as usher.yaml or the cluster tells.
left_out if {
	frameworks != []
	not framework in frameworks
	framework
}

# METADATA
# title: Whether usher.yaml says that Kueue's configuration does not enable the kind
# description: Mutations and checks agree on this; mutations do not see the cluster.
declared_left_out if {
	_declared_frameworks != []
	left_out
}

_declared_frameworks := parameters.queueing.integration_not_enabled.frameworks

# METADATA
# title: Field with the labels that Kueue reads, in dotted form
label_field := $"{replace(trim_prefix(input.workload.queueLabelPath, "/"), "/", ".")}.labels"

# METADATA
# title: Path of a label that Kueue reads
label_path(key) := $"{input.workload.queueLabelPath}/labels/{escaped(key)}"

# METADATA
# title: Path of an annotation of a pod template
annotation_path(pod_set, key) := $"{pod_set.metadataPath}/annotations/{escaped(key)}"

# METADATA
# title: A key, escaped for a JSON Pointer
escaped(key) := replace(key, "/", "~1")

# METADATA
# title: Whether the user of the request has no identity of the list
# description: Undefined without a request, as in CI, because usher then does not know who wrote the object.
user_is_not_one_of(identities) if {
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
# title: Whether any pod set asks Kueue to place its pods by topology
asks_topology if {
	some pod_set in input.podSets
	some annotation in topology_annotations
	pod_set.annotations[annotation]
}

# METADATA
# title: Pod sets with a topology annotation of Kueue
# description: A list, because a set would hash whole pod sets.
topology_pod_sets := [pod_set |
	some pod_set in input.podSets
	_has_topology_annotation(pod_set.annotations)
]

_has_topology_annotation(annotations) if {
	some annotation, _ in annotations
	startswith(annotation, "kueue.x-k8s.io/podset-")
}

# METADATA
# title: The whole number in a text
# description: |
#   Undefined if the text is not a whole number, as Go parses it. Undefined above nine digits too, because Kueue's
#   fields hold no more.
whole_number(text) := 0 if {
	_digits(text) == ""
} else := to_number(digits) if {
	digits := _digits(text)
	count(digits) <= 9
}

# Without a sign and leading zeros, because JSON allows neither.
_digits(text) := trim_left(unsigned, "0") if {
	unsigned := trim_prefix(text, "+")
	unsigned != ""
	trim(unsigned, "0123456789") == ""
}

# METADATA
# title: Whether Kueue's webhooks validate the pod set groups of the kind
# description: |
#   Kueue validates the annotations of every pod template. It validates all templates together only for some kinds.
judges_groups if input.workload.kind in [
	"JobSet",
	"LeaderWorkerSet",
	"MPIJob",
	"RayCluster",
	"RayJob",
	"RayService",
]

# METADATA
# title: Ray cluster that the object makes
# description: Its spec and the path of the spec. Undefined for a job that runs on an existing cluster.
ray_cluster := {"path": "/spec", "spec": input.object.rayCluster.spec}

ray_cluster := {"path": "/spec/rayClusterSpec", "spec": job.rayClusterSpec} if {
	job := input.object.rayJob.spec
	not ray_job_selects_its_cluster
}

ray_cluster := {"path": "/spec/rayClusterConfig", "spec": input.object.rayService.spec.rayClusterConfig}

# METADATA
# title: Whether a RayJob runs on an existing cluster
# description: An empty selector selects no cluster, so the job makes its own.
ray_job_selects_its_cluster if count(input.object.rayJob.spec.clusterSelector) > 0

# METADATA
# title: Resource groups of a ClusterQueue or a Cohort
resource_groups := input.object.clusterQueue.spec.resourceGroups

resource_groups := input.object.cohort.spec.resourceGroups

# METADATA
# title: Quotas of a ClusterQueue or a Cohort
# description: Every quota with its path and the name of its flavor.
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
# title: An amount of a resource in a message
amount(resource, quantity) := amounts.bytes(quantity.value) if resource == "memory"

amount(resource, quantity) := quantity.text if resource != "memory"

# METADATA
# title: Whether a ClusterQueue is in a cohort
# description: By the field of either version. An empty name means no cohort.
in_cohort if {
	some field in ["cohortName", "cohort"]
	input.object.clusterQueue.spec[field] != ""
}
