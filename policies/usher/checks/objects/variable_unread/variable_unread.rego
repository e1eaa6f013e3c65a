# METADATA
# title: Every variable has an effect
# description: |
#   A program ignores a variable with a misspelt name (`NCCL_SOCKET_IFNMAE`), and one of another version. A variable
#   that no controller sets is empty in a command: only Indexed Jobs have JOB_COMPLETION_INDEX, only a LeaderWorkerSet
#   has LWS_LEADER_ADDRESS, and only plugins of Volcano set VC_TASK_INDEX and the hosts of tasks. usher knows the
#   variables of NCCL, PyTorch and vLLM, and reports a name only if it is nearly one of them.
#   Of some variables it compares the value: an address that no other pod reaches, the number of a GPU that the container
#   does not have, and a cache that several processes share without one seed for their hashes. It also names a variable
#   whose value uses one that is defined later, which the kubelet does not replace.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the variables of NCCL
#   - ref: https://docs.vllm.ai/en/stable/configuration/env_vars/
#     description: vLLM on its variables
#   - ref: https://kubernetes.io/docs/tasks/job/indexed-parallel-processing-static/
#     description: Kubernetes on JOB_COMPLETION_INDEX
# schemas:
#   - input: schema.input
# custom:
#   code: USH1536
#   about: unread keys
#   severity: medium
#   why: The program runs with a default, or with an empty rank or address.
#   closes: []
#   remediation: Correct the name, or let the right controller set the variable.
package usher.checks.objects.variable_unread

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "variable"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
