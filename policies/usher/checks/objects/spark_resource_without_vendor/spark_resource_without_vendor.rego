# METADATA
# title: A GPU in the properties of Spark has a vendor
# description: |
#   On Kubernetes, Spark makes the name of a resource from two properties: spark.executor.resource.gpu.amount says how
#   many, and spark.executor.resource.gpu.vendor (nvidia.com) whose. Without the vendor the driver ends with "Resource: gpu
#   was requested, but vendor was not specified", before it asks for an executor. On YARN and standalone clusters the
#   vendor is not needed, so properties that were written for them lack it.
# scope: package
# related_resources:
#   - ref: https://spark.apache.org/docs/latest/running-on-kubernetes.html#resource-allocation-and-configuration-overview
#     description: Spark on resources in Kubernetes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1500
#   about: objects
#   kinds: [sparkApplication, scheduledSparkApplication]
#   severity: high
#   why: The application ends before it runs.
#   remediation: |
#     Set the vendor, for example spark.executor.resource.gpu.vendor nvidia.com, and a discoveryScript. Or set `gpu` of the
#     executor in the SparkApplication instead of these properties.
package usher.checks.objects.spark_resource_without_vendor

deny contains finding if {
	some [path, spec] in _specs
	some name in spec.sparkConf

	finding := {
		"path": $"{path}/sparkConf/{name}.amount",
		"message": $"{name}.amount asks for a resource without {name}.vendor, and Spark on Kubernetes refuses that",
		"remedy": $"set {name}.vendor, for example to nvidia.com",
	}
}

_specs contains ["/spec", input.object.sparkApplication.spec]

_specs contains ["/spec/template", input.object.scheduledSparkApplication.spec.template]
