# METADATA
# title: A program takes its arguments
# description: |
#   A program that gets an argument which it does not know ends at once, and the pod restarts for ever. usher knows the
#   options of vLLM, SGLang, Text Generation Inference, torchrun, Accelerate and DeepSpeed, and for vLLM and SGLang the
#   versions that have them: it reads the version from the tag of their own images. It finds misspelt options, options of other servers,
#   options that a version no longer has or does not have yet, options that need others, texts that are not JSON, and a
#   context that is longer than the positions of the model.
#   It also finds words that only a shell understands in a command that starts no shell: variables without parentheses,
#   && and the like, quotes around a value, an option and its value in one argument; and arguments that a shell does not pass on
#   to its script.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/cli/serve/
#     description: vLLM on its options
#   - ref: https://docs.sglang.ai/advanced_features/server_arguments.html
#     description: SGLang on its options
#   - ref: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
#     description: Kubernetes on commands, arguments and variables in them
# schemas:
#   - input: schema.input
# custom:
#   code: USH1690
#   about: unread keys
#   severity: medium
#   why: The program ends when it starts, or ignores a part of its command.
#   closes: []
#   remediation: Write the arguments that the program takes in this version.
package usher.checks.objects.program_cannot_use

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "argument"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
