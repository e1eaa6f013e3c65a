# METADATA
# title: A server has a token for a gated model
# description: |
#   The hub of Hugging Face gives some models only to accounts that accepted their licence, for example all of meta-llama
#   and Gemma before version 4. A server without a token of one of these accounts gets the answer 401 and ends.
#
#   The check finds servers whose command names one of these models. It skips containers with a variable whose name contains
#   TOKEN, with another hub (HF_ENDPOINT), with variables from objects, and with mounts, which may hold the token or the
#   model; an emptyDir that no init container fills holds neither. It also skips servers that are offline and pods that
#   run already.
# scope: package
# related_resources:
#   - ref: https://huggingface.co/docs/hub/models-gated
#     description: Hugging Face on gated models
#   - ref: https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables#hftoken
#     description: Hugging Face on HF_TOKEN
# schemas:
#   - input: schema.input
# custom:
#   code: USH1582
#   about: accelerator pods
#   severity: low
#   why: The server ends before it loads its model, again and again, and its GPUs do nothing.
#   remediation: |
#     Set HF_TOKEN from a Secret with the token of an account that may read the model.
package usher.checks.serving.gated_model_without_token

import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some entry in serving.downloading_servers
	owner := entry.container.parallelism.model.gated
	owner != ""
	every mount in object.get(entry.container, "volumeMounts", []) {
		_begins_empty(entry.podSet, mount)
	}
	not serving.merged(entry.container.path)

	finding := {
		"path": entry.container.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} downloads a model of {owner}, which the hub gives only to accounts that accepted its licence, but has no token",
		"remedy": "set HF_TOKEN from a Secret",
	}
}

_begins_empty(_, mount) if trim_right(mount.mountPath, "/") in ["/dev/shm", "/tmp"]

# Nothing fills the volume before the server starts.
_begins_empty(pod_set, mount) if {
	some volume in pod_set.volumes
	volume.name == mount.name
	volume.emptyDir
	every container in pod_set.containers {
		container.type == "container"
	}
}
