# METADATA
# title: Quotas of accelerators use the prefix requests.
# description: |
#   For accelerators and other extended resources, Kubernetes counts only keys with the prefix `requests.`. The API
#   server accepts nvidia.com/gpu too, but never compares anything with it. Only cpu and memory have a short form.
#   Memory and cores of HAMi are amounts of each share, so HAMi itself counts them, by keys with the prefix `limits.`.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
#     description: Kubernetes on quotas of extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1455
#   about: objects
#   kinds: [resourceQuota]
#   severity: medium
#   why: The team expects a limit that does not exist.
#   closes: [S28]
#   remediation: Write `requests.` before the name of the resource.
package usher.checks.objects.quota_without_requests_prefix

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	parts := split(name, "/")
	count(parts) == 2
	not _is_counted(parts[0])
	not name in _of_hami

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"Kubernetes never counts {name} without {_lacking(parts[1])}, so {amount.text} of it limits nothing",
		"remedy": $"write {_counted(parts, name)}: {amount.text}",
	}
}

# The key of a device class says so (kubernetes.io, resource quotas, quota for devices of dynamic allocation).
_counted(parts, _) := $"{parts[0]}.deviceclass.resource.k8s.io/devices" if parts[1] == "devices"

_counted(parts, name) := $"requests.{name}" if parts[1] != "devices"

_lacking("devices") := "the ending deviceclass.resource.k8s.io"

_lacking(resource) := "the prefix requests." if resource != "devices"

# Amounts of each share: Kubernetes does not multiply them with the shares, and HAMi does (pkg/device/quota.go).
_of_hami := ["nvidia.com/gpucores", "nvidia.com/gpumem"]

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	resource := trim_prefix(name, "requests.")
	resource in _of_hami

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"{name} does not bound what HAMi gives: Kubernetes counts a container once, whatever its number of GPUs, and HAMi only reads keys with the prefix limits.",
		"remedy": $"write limits.{resource}: {amount.text}",
	}
}

# Keys for objects, storage and device classes. Another check judges the prefix limits.
_is_counted("count")

_is_counted(domain) if {
	some prefix in ["requests.", "limits."]
	startswith(domain, prefix)
}

_is_counted(domain) if {
	some suffix in ["k8s.io", "kubernetes.io", "openshift.io"]
	endswith(domain, suffix)
}
