# METADATA
# title: The controller of an object can use its fields
# description: |
#   Definitions of operators check types, not what an operator needs. So the object is stored, and its controller makes
#   nothing of it. usher knows the metadata that triggers of KEDA need, GPUs of Spark without a discovery script, more
#   processes of mpirun than the slots of an MPIJob, metrics of an HPA that KServe refuses, pipeline stages of an
#   LLMInferenceService of one pod, task groups of YuniKorn, and features of node feature discovery.
#   It also compares the container that the training operator looks for, addresses of the first rank with the names of the
#   pods, torchrun on several nodes without ranks, amounts of resources among the annotations, names of boards in node
#   selectors, former labels of KAI-Scheduler, and what the webhooks of Kueue and KServe refuse.
#   Of programs it knows what a container has to give them: the model or the repository in a volume, the folder of
#   downloads, no volume over the program itself, a tensor parallel size that divides the attention heads of the model,
#   memory of the host for all ranks, a name for the user of vLLM, a server that answers before a hook asks it, ssh for
#   the launcher of DeepSpeed, ranks that all start at once, workers of Ray that something makes and may take away, a
#   Service for addresses of the first pod of a Job or a StatefulSet, and the right to execute a script of a ConfigMap.
#   Mutating webhooks in the files that take longer than a request together, and a storageUri without a scheme, are named.
#   Of device stacks usher knows machine types that no cloud has, chips and nodes of TPU slices, requests for several
#   shares where the device plugin refuses them, fields that it ignores, NVIDIADrivers that the operator ignores or
#   refuses, containerd of k3s and RKE2, two device plugins on GKE, labels of EKS Auto Mode, NodeOverlays, attributes of
#   NVIDIA's devices, templates of ComputeDomains, claims that no container uses, selectors that no known node meets,
#   names of boards in labels of GKE and Karpenter, limits of NodePools, quotas of HAMi and Kubeflow, devices that a
#   LimitRange gives to all containers, and pods that the Pod Security level of their Namespace in the files refuses.
#   Of node pools and networks it knows what the API server and the operators refuse or ignore: fields of NodePools and
#   EC2NodeClasses, disks of Bottlerocket, half of the autoscaler's annotations, node groups of eksctl that begin at zero,
#   ComputeClasses, policies of SR-IOV and of NVIDIA's Network Operator, addresses that two nodes give, networks whose
#   device no container asks for, and configurations of the kubelet. Beside known nodes it compares kernel modules and
#   the CUDA of images with boards and drivers, and the zone of a volume with those of nodes that offer the device.
#   Of queues and autoscalers it knows the configurations of Kueue, Volcano, the descheduler and the scheduler, what the
#   webhooks of KEDA, KubeRay and the Spark operator refuse, versions that operators no longer serve, startup taints that
#   stay, budgets of Jobs, tolerations with another value than the taint of a NodePool, and what other objects of the
#   files contradict: a VerticalPodAutoscaler and its target, a queue and its admission checks, a gang and its operator.
#   Beside known nodes and configurations it also finds startup taints that a NodePool does not declare, fields and claims
#   that older kubelets do not know, several Neuron devices without the scheduler that knows their neighbours, weights
#   that the files of a node do not hold, a storage initializer of KServe with little memory, a progress deadline of
#   Knative below the time of a node and its model, users who share a claim by MPS, and a selector of a Service or a pool
#   that also selects pods which do not listen on its port.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/scalers/
#     description: KEDA on the metadata of each trigger
#   - ref: https://spark.apache.org/docs/latest/configuration.html#custom-resource-scheduling-and-configuration-overview
#     description: Spark on GPUs
#   - ref: https://yunikorn.apache.org/docs/user_guide/gang_scheduling/
#     description: YuniKorn on task groups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1535
#   about: unread keys
#   severity: medium
#   why: The object exists and has no effect, or its pods fail when they start.
#   closes: []
#   remediation: Write what the controller needs.
package usher.checks.objects.controller_cannot_use

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "controller"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
