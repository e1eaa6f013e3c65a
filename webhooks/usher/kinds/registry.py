"""The one registry of workload kinds. To teach usher a kind, add it to an adapter's KINDS."""

from usher.kinds import appwrapper, hyperpod, jobset, knative, leader_worker_set, view_registry, vllm
from usher.kinds.argo import workflows
from usher.kinds.autoscaling import scaled_jobs
from usher.kinds.kind import Kind
from usher.kinds.kserve import inference_services, llm_services
from usher.kinds.kubeflow import notebooks, train_jobs, training_jobs
from usher.kinds.kubeflow_pipelines import pipeline_versions
from usher.kinds.kubernetes import apps as kubernetes_apps
from usher.kinds.kubernetes import batch as kubernetes_batch
from usher.kinds.kubernetes import pods as kubernetes_pods
from usher.kinds.ray import workloads as ray_workloads
from usher.kinds.spark import applications as spark_applications
from usher.kinds.tekton import runs as tekton_runs
from usher.kinds.view import View
from usher.kinds.volcano import jobs as volcano_jobs

KINDS: list[Kind] = [
    *kubernetes_pods.KINDS,
    *kubernetes_apps.KINDS,
    *kubernetes_batch.KINDS,
    *training_jobs.KINDS,
    *train_jobs.KINDS,
    *jobset.KINDS,
    *leader_worker_set.KINDS,
    *ray_workloads.KINDS,
    *inference_services.KINDS,
    *llm_services.KINDS,
    *vllm.KINDS,
    *knative.KINDS,
    *volcano_jobs.KINDS,
    *workflows.KINDS,
    *tekton_runs.KINDS,
    *spark_applications.KINDS,
    *appwrapper.KINDS,
    *notebooks.KINDS,
    *scaled_jobs.KINDS,
    *hyperpod.KINDS,
    *pipeline_versions.KINDS,
]

BY_GROUP_AND_KIND: dict[tuple[str, str], Kind] = {(kind.group, kind.kind): kind for kind in KINDS}

OBJECTS: list[View] = [view for view in view_registry.VIEWS if (view.group, view.kind) not in BY_GROUP_AND_KIND]
"""Kinds that make no pods and that rules read."""

LISTED: list[Kind | View] = [
    *(kind for kind in KINDS if kind.plural),
    *(view for view in OBJECTS if view.plural and view.listed),
]
"""Every kind of which an API server lists the objects."""
