# METADATA
# title: Volumes inside pods use a listed CSI driver
# description: |
#   A pod describes a volume of type csi itself. No claim, storage class or quota stands between the pod and the driver
#   on its node. The driver alone decides what the pod gets, and that can include device files. usher lists drivers for
#   secrets, certificates and object stores. An administrator can review other drivers and list them in usher.yaml.
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
#   why: A driver that no administrator has reviewed may give the pod files of the node.
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
#         - secrets-store-gke.csi.k8s.io
#         - secrets-store.csi.k8s.io
#         - smb.csi.k8s.io
#         - spiffe.csi.cert-manager.io
#       description: CSI drivers that a pod may use for volumes that it describes itself.
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
		"path": $"{workload.volume_path(pod_set, index)}/csi/driver",
		"message": $"{workload.pod_set_name(pod_set)} has a volume of the CSI driver {text.excerpt(driver)}, but this driver is not in the list of allowed drivers",
		"remedy": "use a volume claim, or have the driver listed in usher.yaml",
	}
}
