# METADATA
# title: No Service gives a program a variable that it reads as a port
# description: |
#   Kubernetes gives each container variables for every Service of its namespace. For a Service named vllm one of them
#   is VLLM_PORT, with a text like tcp://10.0.0.7:8000. vLLM reads VLLM_PORT as the number of a port and ends with an
#   error. Jupyter, MLflow, BentoML, llama.cpp, Aphrodite, GPUStack, Gradio, InvokeAI and NIMs have variables like this too.
#
#   The check knows the Services of the same files, by their names. It skips headless Services, which give no variables,
#   containers that set the variable themselves, and pods with enableServiceLinks: false. A review sees no other
#   objects, so only `usher check` finds this.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/container-environment/#cluster-information
#     description: Kubernetes on variables of Services
#   - ref: https://docs.vllm.ai/en/latest/configuration/env_vars.html
#     description: vLLM on VLLM_PORT
# schemas:
#   - input: schema.input
# custom:
#   code: USH1043
#   about: accelerator pods
#   severity: high
#   why: The program ends with an error at its start, again and again.
#   remediation: |
#     Set enableServiceLinks: false in the pod spec, or give the Service another name.
package usher.checks.serving.variable_of_a_service

import data.usher.lib.text
import data.usher.lib.workload

# KServe and Knative decide about the links of their pods.
_operators := ["serving.knative.dev", "serving.kserve.io"]

deny contains finding if {
	not input.workload.owned
	not input.workload.group in _operators
	some pod_set in workload.accelerator_pod_sets
	object.get(pod_set, "enableServiceLinks", true)
	some container in pod_set.containers
	some link in input.beside.links
	link.path == container.path

	finding := {
		"path": container.path,
		"message": $"the Service {text.excerpt(link.service)} sets the variable {link.variable} of {workload.container_name(pod_set, container)} to tcp://..., and {link.program} reads it as a port and fails",
		"remedy": "set enableServiceLinks: false in the pod spec, or rename the Service",
	}
}
