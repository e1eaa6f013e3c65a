"""The fields of Argo Workflows that rules read, beside their pods."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.reading.shapes import STRICT, IntOrString


@with_config(STRICT)
class Backoff(TypedDict):
    maxDuration: NotRequired[str]


@with_config(STRICT)
class RetryStrategy(TypedDict):
    limit: NotRequired[IntOrString]
    expression: NotRequired[str]
    backoff: NotRequired[Backoff]


@with_config(STRICT)
class Step(TypedDict):
    """A step, or a task of a dag."""

    withParam: NotRequired[str]


@with_config(STRICT)
class Dag(TypedDict):
    tasks: NotRequired[list[Step]]


@with_config(STRICT)
class Template(TypedDict):
    retryStrategy: NotRequired[RetryStrategy]
    steps: NotRequired[list[list[Step]]]
    dag: NotRequired[Dag]


@with_config(STRICT)
class TemplateDefaults(TypedDict):
    retryStrategy: NotRequired[RetryStrategy]


@with_config(STRICT)
class WorkflowSpec(TypedDict):
    activeDeadlineSeconds: NotRequired[int]
    templateDefaults: NotRequired[TemplateDefaults]
    templates: NotRequired[list[Template]]


@with_config(STRICT)
class Workflow(TypedDict):
    """A Workflow, or a template that Argo makes Workflows from."""

    spec: NotRequired[WorkflowSpec]


@with_config(STRICT)
class CronWorkflowSpec(TypedDict):
    concurrencyPolicy: NotRequired[str]
    workflowSpec: NotRequired[WorkflowSpec]


@with_config(STRICT)
class CronWorkflow(TypedDict):
    spec: NotRequired[CronWorkflowSpec]
