"""kubeflow.org and trainer.kubeflow.org: training jobs, TrainJobs and notebooks."""

from usher.kinds.kubeflow import train_jobs, training_jobs

KINDS = (*training_jobs.TRAINING_JOBS, *train_jobs.KINDS, *training_jobs.NOTEBOOKS)
