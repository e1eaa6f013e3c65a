# METADATA
# title: A probe asks the port and a path of its server
# description: |
#   A probe to a port on which the server does not listen, or to a path that it does not have, never succeeds: the pod
#   never gets requests, or the kubelet restarts it for ever. usher knows the ports and paths of vLLM, SGLang, Text
#   Generation Inference, Text Embeddings Inference, Triton, llama.cpp, TensorRT-LLM and Ollama, and the flags that
#   change the port. It skips pods with several containers, and commands with variables.
#   A single declared port is compared too, and SGLang and trtllm-serve need --host, because they listen on the address of
#   the pod's own loopback without it. A liveness probe must not ask whether the server is ready: Triton is not while it
#   loads another model, and llama.cpp is not while all its slots are busy.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/latest/serving/openai_compatible_server/
#     description: vLLM on its server
#   - ref: https://docs.sglang.ai/advanced_features/server_arguments.html
#     description: SGLang on its port
#   - ref: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
#     description: llama.cpp on its server
# schemas:
#   - input: schema.input
# custom:
#   code: USH1541
#   about: unread keys
#   severity: medium
#   why: The service never becomes ready, or restarts for ever.
#   closes: []
#   remediation: Ask the port and the path of the server.
package usher.checks.objects.probe_without_an_answer

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "probe"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
