"""Pods of which only a part is known are warned about and never denied for what the rest may say."""

import builders
from usher import model, paths
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Request
from usher.reading.lookup import Objects

CONFIG = models.Config.model_validate(
    {
        "pools": [
            {
                "name": "h100",
                "nodeSelector": {"pool": "h100"},
                "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
                "resources": ["nvidia.com/gpu"],
            }
        ]
    }
)
TOLERATION = "placement/gpu_toleration_present"
GPU = builders.template(builders.container("node", gpus=8))
RUNTIME = builders.replaced(
    builders.custom(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": GPU}}}]}}},
        name="torch",
    ),
    "/metadata/namespace",
    None,
)
TRAIN_JOB = builders.custom(
    "trainer.kubeflow.org/v1alpha1",
    "TrainJob",
    {"runtimeRef": {"name": "torch"}, "trainer": {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}},
)


def outcome(value: paths.Object, *known: paths.Object) -> tuple[model.Outcome, str]:
    """What follows from the missing toleration, and why it is milder than elsewhere."""
    decision = assembly.embedded(CONFIG).decide(Request(value=value, objects=Objects(known)))
    (found,) = (each for each in decision.judgements if each.finding.check == TOLERATION)
    return found.outcome, found.because


def test_a_toleration_that_an_unknown_runtime_may_have_is_warned_about() -> None:
    assert outcome(TRAIN_JOB)[0] is model.Outcome.WARN


def test_a_toleration_that_a_known_runtime_lacks_is_given_to_its_pods() -> None:
    because = "the webhook adds the toleration to the pods; it cannot edit this template"

    assert outcome(TRAIN_JOB, RUNTIME) == (model.Outcome.WARN, because)


def test_a_template_is_warned_about_because_its_users_may_say_the_rest() -> None:
    because = "what refers to a ClusterTrainingRuntime may say the rest of its pods"

    assert outcome(RUNTIME) == (model.Outcome.WARN, because)


def test_a_claim_that_nobody_knows_makes_no_pod_partial() -> None:
    """Or a name that leads nowhere would turn every denial into a warning."""
    claims: list[paths.Json] = [{"name": "x", "resourceClaimName": "nowhere"}]

    assert outcome(builders.pod(builders.container(gpus=8), resourceClaims=claims)) == (model.Outcome.DENY, "")
