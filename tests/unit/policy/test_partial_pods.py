"""Partly known pods get warnings, and are never denied for a value that the unknown part may set."""

import builders
from usher import model, paths
from usher.config import models
from usher.kinds.reading.values import Objects
from usher.policy import assembly
from usher.policy.decision import Request

TAKES_DEVICES = "isolation/visible_devices_set_by_hand"
TEMPLATE = builders.template(builders.container("node", env={"NVIDIA_VISIBLE_DEVICES": "all"}))
RUNTIME = builders.replaced(
    builders.custom(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": TEMPLATE}}}]}}},
        name="torch",
    ),
    "/metadata/namespace",
    None,
)

TRAIN_JOB = builders.custom(
    "trainer.kubeflow.org/v1alpha1",
    "TrainJob",
    {"runtimeRef": {"name": "torch"}, "trainer": {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}},
)


def outcome(value: paths.Object, *known: paths.Object) -> tuple[model.Outcome, str]:
    """The action for a variable that takes GPUs, and why it is milder than elsewhere."""
    decision = assembly.embedded(models.Config()).decide(Request(value=value, objects=Objects(known)))
    (found,) = (each for each in decision.judgements if each.finding.check == TAKES_DEVICES)
    return found.outcome, found.because


def test_a_train_job_is_warned_about_because_its_runtime_may_say_the_rest() -> None:
    assert outcome(TRAIN_JOB) == (model.Outcome.WARN, "objects that usher does not know may define the rest")


def test_a_template_is_warned_about_because_its_users_may_say_the_rest() -> None:
    because = "objects that refer to the ClusterTrainingRuntime may define the rest"

    assert outcome(RUNTIME) == (model.Outcome.WARN, because)


def test_an_unknown_claim_makes_no_pod_partial() -> None:
    """Or a name that leads nowhere would turn every denial into a warning."""
    claims: list[paths.Json] = [{"name": "x", "resourceClaimName": "nowhere"}]

    pod = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), resourceClaims=claims)

    assert outcome(pod) == (model.Outcome.DENY, "")
