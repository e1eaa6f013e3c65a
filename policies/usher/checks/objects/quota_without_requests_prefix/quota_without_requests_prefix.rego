# METADATA
# title: Quotas of accelerators say that they count requests
# description: |
#   Of accelerators and all other extended resources only keys that begin with `requests.` are counted. The API server
#   takes nvidia.com/gpu too, and never holds anything against it, though cpu and memory have such short forms.
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
#   why: The team believes in a cap that is none.
#   closes: [S28]
#   remediation: Write `requests.` before the name of the resource.
package usher.checks.objects.quota_without_requests_prefix

deny contains finding if {
	some name, amount in input.object.resourceQuota.spec.hard
	parts := split(name, "/")
	count(parts) == 2
	not _is_counted(parts[0])

	finding := {
		"path": $"/spec/hard/{replace(name, "/", "~1")}",
		"message": $"{name} is never counted without requests. before it, so {amount.text} of it caps nothing",
		"remedy": $"write requests.{name}: {amount.text}",
	}
}

# Numbers of objects, of storage and of devices by their class; limits have a check of their own.
_is_counted("count")

_is_counted(domain) if {
	some prefix in ["requests.", "limits."]
	startswith(domain, prefix)
}

_is_counted(domain) if {
	some suffix in ["k8s.io", "kubernetes.io", "openshift.io"]
	endswith(domain, suffix)
}
