# METADATA
# title: The entry point of a RayJob is one command
# description: |
#   KubeRay 1.3 and later pastes the entry point into a line of a shell in the pod that submits the job: `ray job submit
#   ... -- ENTRYPOINT`. The text behind `&&`, `||`, `;` or a line break is another command of that shell. It runs in the
#   submitter, which has no GPU and one CPU, while the cluster runs the first command alone and then idles or ends.
#
#   The check skips operators in quotes, and the modes HTTPMode and InteractiveMode, which use no shell.
# scope: package
# related_resources:
#   - ref: https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/job.go
#     description: KubeRay on the command of the submitter
#   - ref: https://github.com/ray-project/kuberay/issues/3802
#     description: A report about entry points of several commands
# schemas:
#   - input: schema.input
# custom:
#   code: USH1498
#   about: accelerator pods
#   severity: medium
#   why: The program that needs the GPUs runs in a pod without GPUs, and the cluster idles.
#   remediation: |
#     Put all commands into one, for example bash -c 'pip install -r requirements.txt && python train.py'. Or set
#     runtimeEnvYAML for what the job installs.
package usher.checks.objects.entrypoint_of_several_commands

import data.usher.lib.workload

deny contains finding if {
	spec := input.object.rayJob.spec
	object.get(spec, "submissionMode", "K8sJobMode") in ["K8sJobMode", "SidecarMode"]
	spec.entrypoint != ""
	count(workload.accelerator_pod_sets) > 0

	finding := {
		"path": "/spec/entrypoint",
		"message": $"the entry point has several commands, and all behind {spec.entrypoint} run in the pod that submits the job, without GPUs",
		"remedy": "put the commands into one: bash -c '...'",
		"assumption": "usher assumes KubeRay 1.3 or later",
	}
}
