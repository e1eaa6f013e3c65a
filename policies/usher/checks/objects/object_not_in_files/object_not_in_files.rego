# METADATA
# title: Names of other objects lead to ones that the files have
# description: |
#   The files of a run that have some objects of a kind often have all. So `usher check` warns of a ConfigMap, Secret,
#   claim, ServiceAccount, Service, workflow template or Tekton task whose name is only a slip for one in the same file
#   or folder. What a queue of Kueue needs is reported without a slip too: a ResourceFlavor, AdmissionCheck, Topology,
#   ClusterQueue or parent Cohort that neither the run nor the facts have, where the same file or folder has others. A
#   LocalQueue is reported if its Namespace in the files has labels that its ClusterQueue does not select. So are a
#   ConfigMap of NVIDIA's or AMD's operator in a namespace from which the operator does not mount it, or without the
#   key that is read; a workload or queue in another shard of KAI-Scheduler than its queue, and a shard without a
#   SchedulingShard; and a resource of AMD that the naming strategy of the device plugin in the files does not offer.
#   Ports are compared too: those of Services that an Ingress, a route or a webhook names, and those on which a model
#   server alone in its pod listens with those that Services and InferencePools ask.
#   The cluster may have more than the files, so the finding only warns.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/
#     description: Kueue on what a ClusterQueue needs
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/operator/scheduling-shards.md
#     description: KAI-Scheduler on the shards of queues, nodes and workloads
#   - ref: https://instinct.docs.amd.com/projects/gpu-operator/en/main/device_plugin/device-plugin.html
#     description: AMD on the names of resources by strategy
# schemas:
#   - input: schema.input
# custom:
#   code: USH1494
#   about: unread keys
#   severity: medium
#   why: The object that names it waits until somebody creates the other one.
#   closes: []
#   remediation: Correct the name, or add the object to the files.
package usher.checks.objects.object_not_in_files

deny contains finding if {
	some each in input.unreadKeys
	each.dangling
	not each.important

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
