# METADATA
# title: An autoscaler makes no more pods than the nodes hold
# description: |
#   An autoscaler of pods (HorizontalPodAutoscaler, KEDA, Knative, or the one of Ray) counts pods that are pending too. If
#   its maximum is more than the nodes hold when they are empty, the other pods stay pending under load, and the load
#   reads as if more servers ran. The check computes how many pods with accelerators the nodes hold at once, at most, and
#   compares this with the maximum. Autoscalers beside the workload in the same files count, and bounds in the object
#   itself. Where nothing limits the number of nodes, somebody may add nodes.
# scope: package
# related_resources:
#   - ref: https://github.com/oracle-quickstart/oci-ai-blueprints/issues/11
#     description: An autoscaler with a maximum of 8 on a cluster with 4 GPUs
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
#     description: Kubernetes on autoscaling of pods
# schemas:
#   - input: schema.input
# custom:
#   code: USH1064
#   about: cluster facts
#   severity: low
#   why: Pods above this number stay pending, just when they are needed.
#   remediation: |
#     Lower the maximum to what the nodes hold, or add nodes. If an autoscaler adds nodes, say so in usher.yaml with
#     scalesFromZero or maxNodes of the pool.
package usher.checks.serving.autoscaler_above_all_nodes

deny contains object.union(finding, _assumption(room)) if {
	not input.workload.owned
	room := input.cluster.nodes.growth

	finding := {
		"path": "",
		"message": $"its autoscaler may make {room.wanted} pods with accelerators, but even empty nodes hold only {room.most}, so the others stay pending",
		"remedy": "lower the maximum of the autoscaler to what the nodes hold, or add nodes",
	}
}

_assumption(room) := {} if room.sure

_assumption(room) := {"assumption": "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"} if {
	not room.sure
}
