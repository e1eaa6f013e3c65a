"""kubeflow.org and trainer.kubeflow.org: training jobs, TrainJobs and notebooks."""
