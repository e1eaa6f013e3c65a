"""The section `identities` of usher.yaml: who the users and groups of a request are."""

from typing import Final

from pydantic import Field

from usher.config.fields import Section, UserPattern


class Identity(Section):
    """Users and groups as the API server authenticates them; no object can claim to be one."""

    users: list[UserPattern] = Field(default=[], description="Names of users, in which * stands for any characters.")
    groups: list[UserPattern] = Field(default=[], description="Names of groups, in which * stands for any characters.")


_OF_CONTROLLERS: Final = (
    "gpu-operator",
    "kueue-system",
    "node-feature-discovery",
    "nvidia-gpu-operator",
    "volcano-system",
)
_OF_SCHEDULERS: Final = ("kai-scheduler", "koordinator-system", "runai", "volcano-system", "yunikorn")

DEFAULT_IDENTITIES: Final = {
    "administrators": Identity(groups=["system:masters"]),
    "controllers": Identity(
        users=[
            "system:kube-controller-manager",
            "system:apiserver",
            "system:node:*",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_CONTROLLERS),
        ]
    ),
    "schedulers": Identity(
        users=[
            "system:kube-scheduler",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_SCHEDULERS),
        ]
    ),
}
