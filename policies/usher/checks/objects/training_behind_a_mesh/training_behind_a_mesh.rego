# METADATA
# title: The pods of a training run get no sidecar of a service mesh
# description: |
#   Istio adds a sidecar to every pod of a namespace with the label istio-injection=enabled or istio.io/rev. It takes
#   the connections between ranks, which use addresses of pods and any ports, so the ranks wait for each other. If it is
#   not a native sidecar, it also keeps running when the training has ended, so the job never ends and holds its GPUs.
#
#   The check knows the labels of namespaces in the same files and among the facts. It skips pods with
#   sidecar.istio.io/inject: "false", pods on the network of their node, which get no sidecar, and workloads of one pod. A
#   review sees no other objects, so only `usher check` finds this.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/pytorch/
#     description: Kubeflow on Istio and training
#   - ref: https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/
#     description: Istio on the injection of sidecars
# schemas:
#   - input: schema.input
# custom:
#   code: USH1492
#   about: accelerator pods
#   severity: medium
#   why: The ranks never find each other, or the job never ends, and its GPUs idle.
#   remediation: |
#     Set the label sidecar.istio.io/inject: "false" on the template of every pod set, or train in a namespace without
#     injection.
package usher.checks.objects.training_behind_a_mesh

import data.usher.lib.text
import data.usher.lib.workload

_key := "sidecar.istio.io/inject"

deny contains finding if {
	input.workload.role == "training"
	not input.workload.owned
	workload.makes_several_pods
	label := input.beside.mesh
	some pod_set in workload.accelerator_pod_sets
	not pod_set.hostNetwork
	not _says_no(pod_set)

	finding := {
		"path": $"{pod_set.metadataPath}/labels",
		"message": $"{workload.pod_set_name(pod_set)} trains in a namespace with the label {text.excerpt(label)}, so each pod gets the sidecar of Istio between the ranks",
		"remedy": $`set the label {_key}: "false" on the pod template`,
	}
}

_says_no(pod_set) if pod_set.labels[_key] == "false"

_says_no(pod_set) if pod_set.annotations[_key] == "false"
