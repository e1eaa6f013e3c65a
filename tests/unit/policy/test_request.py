"""Who asks, by what the API server says of them."""

import pytest

from usher.config import models
from usher.policy.decision import Identities, User

CONFIG = models.Config.model_validate(
    {
        "identities": {
            "administrators": {"groups": ["platform-*"]},
            "vision": {"users": ["*@vision.example.com"], "groups": ["team-vision"]},
        }
    }
)


@pytest.mark.parametrize(
    ("user", "groups", "names"),
    [
        ("system:kube-scheduler", [], ("schedulers",)),
        ("system:serviceaccount:kube-system:job-controller", [], ("controllers", "schedulers")),
        ("system:node:gpu-1", ["system:nodes"], ("controllers",)),
        ("kubernetes-admin", ["system:masters"], ("administrators",)),
        ("alice", ["system:authenticated"], ()),
        ("", [], ()),
        ("system:kube-scheduler-of-mine", [], ()),
    ],
)
def test_the_usual_identities_are_known_without_configuration(
    user: str, groups: list[str], names: tuple[str, ...]
) -> None:
    assert Identities(models.Config()).of(User(name=user, groups=tuple(groups))) == names


@pytest.mark.parametrize(
    ("user", "groups", "names"),
    [
        ("bob@vision.example.com", [], ("vision",)),
        ("bob", ["team-vision", "platform-gpu"], ("administrators", "vision")),
        ("bob", ["system:masters"], ()),
        ("system:kube-scheduler", [], ("schedulers",)),
    ],
)
def test_what_usher_yaml_says_replaces_an_identity_of_that_name(
    user: str, groups: list[str], names: tuple[str, ...]
) -> None:
    assert Identities(CONFIG).of(User(name=user, groups=tuple(groups))) == names
