"""kubeflow.org and trainer.kubeflow.org: training jobs, TrainJobs and notebooks."""

from usher.kinds.kubeflow import notebooks, train_jobs, training_jobs

KINDS = (*training_jobs.KINDS, *train_jobs.KINDS, *notebooks.KINDS)
