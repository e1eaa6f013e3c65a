"""Compiled pipelines of Kubeflow (IR YAML): documents that have neither apiVersion nor kind.

The compiler writes a PipelineSpec, and behind it, where the pipeline has settings for Kubernetes, a PlatformSpec
(kubeflow/pipelines, api/v2alpha1/pipeline_spec.proto and sdk/python/kfp/compiler/pipeline_spec_builder.py). Here
they are one object, in which the settings stand as `platforms`, beside the fields of the PipelineSpec.
"""

from collections.abc import Mapping
from typing import Final

from usher import paths

GROUP: Final = "pipelines.kubeflow.org"
KIND: Final = "PipelineSpec"
VERSION: Final = "2"
"""First number of the schema version that usher reads; other first numbers have another shape."""

PLATFORMS: Final = "platforms"


def is_pipeline(value: paths.Json) -> bool:
    """Whether a document is a pipeline, whatever else is wrong with it."""
    return (
        isinstance(value, dict)
        and _says_no_kind(value)
        and isinstance(value.get("pipelineInfo"), dict)
        and any(isinstance(value.get(field), dict) for field in ("root", "deploymentSpec"))
    )


def is_platforms(value: paths.Json) -> bool:
    """Whether a document is the settings for a pipeline."""
    return isinstance(value, dict) and [*value] == [PLATFORMS] and isinstance(value[PLATFORMS], dict)


def with_platforms(pipeline: paths.Object, settings: paths.Object) -> paths.Object:
    """A pipeline and its settings as one object, which shares their parts."""
    return {**pipeline, PLATFORMS: settings[PLATFORMS]}


def group_version_kind(value: paths.Object) -> tuple[str, str, str]:
    """Group, version and kind of an object, as texts that may be empty. usher recognises a pipeline by its fields."""
    if is_pipeline(value):
        version = str(value.get("schemaVersion") or "").partition(".")[0]
        return GROUP, version if version.isascii() and version.isalnum() else "", KIND
    group, _, version = _text(value.get("apiVersion")).rpartition("/")
    return group, version, _text(value.get("kind"))


def name(value: paths.Object) -> str:
    """The name of a pipeline; empty for all other objects."""
    information = value.get("pipelineInfo") if is_pipeline(value) else None
    return _text(information.get("name")) if isinstance(information, dict) else ""


def _says_no_kind(value: Mapping[str, paths.Json]) -> bool:
    return value.get("apiVersion") is None and value.get("kind") is None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
