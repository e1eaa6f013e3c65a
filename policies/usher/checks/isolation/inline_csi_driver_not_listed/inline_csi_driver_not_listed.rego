# METADATA
# title: Volumes inside pods are made by drivers that are known
# description: |
#   A volume of type csi is described by the pod itself: no claim, no storage class and no quota stand between the pod and
#   the driver on its node, and what a driver gives, device files included, is for the driver to say. Known are drivers
#   for secrets, certificates and object stores; others can be listed in usher.yaml once somebody has looked at them.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#csi-driver-restrictions
#     description: Kubernetes on restricting the drivers of ephemeral volumes
# schemas:
#   - input: schema.input
# custom:
#   code: USH213
#   about: pods
#   severity: low
#   why: A driver that nobody has looked at may hand out files of the node.
#   closes: [B46]
#   parameters:
#     drivers:
#       default:
#         - blob.csi.azure.com
#         - csi.cert-manager.io
#         - csi.spiffe.io
#         - file.csi.azure.com
#         - gcsfuse.csi.storage.gke.io
#         - nfs.csi.k8s.io
#         - secrets-store.csi.k8s.io
#         - smb.csi.k8s.io
#         - spiffe.csi.cert-manager.io
#       description: CSI drivers whose volumes a pod may describe itself.
#   remediation: |
#     Use a volume claim, or have the driver listed in usher.yaml (parameters, inline-csi-driver-not-listed, drivers).
package usher.checks.isolation.inline_csi_driver_not_listed

import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	some index, volume in pod_set.volumes
	driver := volume.csi.driver
	not input.site.systemNamespace
	not driver in parameters.isolation.inline_csi_driver_not_listed.drivers

	finding := {
		"path": $"{workload.field_path(pod_set, "volumes")}/{index}/csi/driver",
		"message": $"{workload.pod_set_name(pod_set)} has a volume that the CSI driver {text.excerpt(driver)} makes, which is not listed as harmless",
		"remedy": "use a volume claim, or have the driver listed in usher.yaml",
	}
}
