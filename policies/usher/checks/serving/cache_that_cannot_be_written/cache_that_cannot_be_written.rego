# METADATA
# title: A server can write its cache of models
# description: |
#   A server that gets its model from a hub writes it into a cache: the directory in HF_HUB_CACHE or HF_HOME, or .cache in
#   the home directory. A user without a home directory has /, so the cache is /.cache, which only root can write. A mount
#   that is read-only, or a read-only root file system without a mount for the cache, fails too: the hub's client writes
#   locks even if the model is there.
#
#   The check finds servers whose command names a model of a hub. It skips servers with HF_HUB_OFFLINE, pods that run
#   already, and servers whose variables come from objects that usher does not know.
# scope: package
# related_resources:
#   - ref: https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
#     description: Hugging Face on HF_HOME and HF_HUB_CACHE
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
#     description: Kubernetes on the user and the file system of a container
# schemas:
#   - input: schema.input
# custom:
#   code: USH1049
#   about: accelerator pods
#   severity: medium
#   why: The server ends before it loads its model, again and again.
#   remediation: |
#     Mount a volume that the server can write, for example an emptyDir or a PersistentVolumeClaim, and set HF_HOME (and
#     HOME, for the caches of compilers) to its path.
package usher.checks.serving.cache_that_cannot_be_written

import data.usher.lib.serving
import data.usher.lib.text
import data.usher.lib.workload

_remedy := "mount a volume that it can write, and set HOME and HF_HOME to its path"

deny contains finding if {
	some entry in _servers
	some name in ["HF_HUB_CACHE", "HF_HOME"]
	cache := entry.container.environment[name].value
	some index, mount in entry.container.volumeMounts
	mount.readOnly
	_holds(mount, cache)

	finding := {
		"path": $"{entry.container.path}/volumeMounts/{index}",
		"message": $"{workload.container_name(entry.podSet, entry.container)} keeps its models in {text.excerpt(cache)} ({name}), but mounts that read-only, so it cannot download them or write its locks",
		"remedy": "mount it without readOnly, or set HF_HUB_OFFLINE=1 if the model is there",
	}
}

deny contains finding if {
	some entry in _servers
	entry.container.securityContext.readOnlyRootFilesystem
	every mount in object.get(entry.container, "volumeMounts", []) {
		_is_for_no_cache(mount)
	}
	not _in_temporary(entry.container)

	finding := {
		"path": $"{entry.container.path}/securityContext/readOnlyRootFilesystem",
		"message": $"{workload.container_name(entry.podSet, entry.container)} has a read-only root file system and no mount for its cache of models",
		"remedy": _remedy,
	}
}

deny contains finding if {
	some entry in _servers
	user := _user(entry)
	user > 0
	not entry.container.securityContext.readOnlyRootFilesystem
	count(_cache_variables & object.keys(entry.container.environment)) == 0
	not _mounted_at_home(entry.container)

	finding := {
		"path": entry.container.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} runs as user {user} without HOME, so its cache of models is /.cache, which only root can write",
		"remedy": _remedy,
		"assumption": "usher assumes that the image has no home directory for this user",
	}
}

_cache_variables := {"HF_HOME", "HF_HUB_CACHE", "HOME"}

_servers := serving.downloading_servers

_user(entry) := entry.container.securityContext.runAsUser if {
	entry.container.securityContext.runAsUser
} else := entry.podSet.securityContext.runAsUser

_is_for_no_cache(mount) if mount.readOnly

_is_for_no_cache(mount) if mount.mountPath in ["/dev/shm", "/tmp"]

_in_temporary(container) if {
	some name in _cache_variables
	startswith(container.environment[name].value, "/tmp")
}

_mounted_at_home(container) if {
	some mount in container.volumeMounts
	startswith(mount.mountPath, "/.cache")
}

_holds(mount, path) if startswith($"{trim_right(path, "/")}/", $"{trim_right(mount.mountPath, "/")}/")
