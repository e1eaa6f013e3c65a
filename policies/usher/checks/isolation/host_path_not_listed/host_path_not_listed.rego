# METADATA
# title: Host paths are listed
# description: |
#   Which directories of a node give control over it, depends on its system, its drivers and its agents, and no list of
#   them is complete. This check turns the question round: usher.yaml lists the directories that pods may mount, for
#   example data sets and local scratch space, and every other host path is a finding. Files that say what time it is or
#   whom a program may trust are harmless to read, so usher allows these read-only. Volumes in the recipe of a fabric
#   that usher.yaml declares are listed there, so the check accepts them too. The check looks at the path as the node
#   sees it, and at nothing below a link that a pod may have made, so list no directory in which pods make links.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
#     description: Kubernetes on host paths
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH223
#   about: pods
#   kinds: [persistentVolume]
#   severity: medium
#   of_agents: true
#   strict_only: Which host paths hold data sets and scratch space, only the site knows.
#   why: A path that no administrator has reviewed may give the pod control over its node.
#   closes: [B5]
#   parameters:
#     paths:
#       default: []
#       description: |
#         Directories of nodes that pods may mount, and everything below them. A * at the end matches the rest of a name.
#     readOnlyPaths:
#       default:
#         - /etc/hostname
#         - /etc/localtime
#         - /etc/os-release
#         - /etc/pki/ca-trust
#         - /etc/ssl/certs
#         - /etc/timezone
#         - /usr/lib/os-release
#         - /usr/local/share/ca-certificates
#         - /usr/share/ca-certificates
#         - /usr/share/zoneinfo
#       description: The same for paths that pods may only mount read-only.
#   remediation: |
#     Use a volume claim or an emptyDir. Or have the directory listed in usher.yaml (parameters, host-path-not-listed,
#     paths).
package usher.checks.isolation.host_path_not_listed

import data.usher.lib.isolation
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	not isolation.by_driver(entry)
	not _is_listed(entry)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts the host path {text.excerpt(entry.written)}, which usher.yaml does not list",
		"remedy": "use a volume claim or an emptyDir, or have the path listed in usher.yaml",
	}
}

_is_listed(entry) if isolation.leads_to(entry, parameters.isolation.host_path_not_listed.paths)

_is_listed(entry) if {
	isolation.leads_to(entry, parameters.isolation.host_path_not_listed.readOnlyPaths)
	isolation.only_read(entry)
}

_is_listed(entry) if isolation.of_fabric_recipe(entry)
