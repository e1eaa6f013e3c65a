# METADATA
# title: Kubeflow
# description: Gang settings in the jobs of kubeflow.org. The input has at most one of these objects.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.kubeflow

# METADATA
# title: The job as it is written
job := input.object.pytorchJob

job := input.object.tfJob

job := input.object.xgboostJob

job := input.object.paddleJob

job := input.object.jaxJob

job := input.object.mpiJob

# METADATA
# title: Settings of the gang
scheduling_policy := job.spec.runPolicy.schedulingPolicy
