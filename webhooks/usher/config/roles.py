"""The section `roles` of usher.yaml: which role a workload has, where the kind and the program do not say it."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from usher.config.fields import LabelKey, Pattern, Role, Section

ROLE_LABEL: Final = "gpu-usher.io/role"
"""The label by which the author of a workload may set its role."""

MOST_RULES: Final = 256
_MOST_PATTERNS: Final = 64
_MOST_STARS: Final = 8


def _few_stars(pattern: str) -> str:
    if pattern.count("*") > _MOST_STARS:
        raise ValueError(f"the pattern has more than {_MOST_STARS} *; split it into several patterns")
    if not pattern.strip(" */:"):
        raise ValueError("the pattern matches everything; leave the field out instead")
    return pattern


ImagePattern = Annotated[
    str, StringConstraints(pattern=r"^[-A-Za-z0-9._/:@*]+$", max_length=512), AfterValidator(_few_stars)
]
"""The end of an image's path in which `*` stands for any characters; without a colon it matches every tag."""
CommandPattern = Annotated[
    str, StringConstraints(pattern=r"^[!-~]+( [!-~]+)*$", max_length=512), AfterValidator(_few_stars)
]
"""The first words of a command in which `*` stands for any characters of one word."""
LabelPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.*]*$", max_length=63)]
"""The value of a label in which `*` stands for any characters."""


class RoleRule(Section):
    """Workloads and their role. All conditions of a rule must hold; of a list, one entry is enough."""

    namespaces: list[Pattern] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="Namespaces, in which * stands for any characters; by default all.",
    )
    kinds: list[str] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="Kinds of objects: PyTorchJob, or batch/Job with the group. The pods of a Job have the kind Pod. "
        "By default all.",
    )
    images: list[ImagePattern] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="Images of containers, in which * stands for any characters: the whole image, or the end of its "
        "path after a slash. Without a colon, every tag and digest matches.",
    )
    commands: list[CommandPattern] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="The first words of commands that containers run, directly or in a shell script: "
        "`python -m trainer`. In a word, * stands for any characters. A word without a slash matches the last part "
        "of a path.",
    )
    labels: dict[LabelKey, LabelPattern] = Field(
        default={},
        max_length=_MOST_PATTERNS,
        description="Labels of the object or of one of its pod templates, with their values, in which * stands for "
        "any characters. Every user of the namespace can write a label: add namespaces where the role gives something.",
    )
    role: Role | None = Field(default=None, description="The role of these workloads.")
    from_label: LabelKey | None = Field(
        default=None,
        description="In place of `role`: the label whose value is the role. The rule matches only workloads with "
        "this label and the name of a role as its value. It makes usher trust the label gpu-usher.io/role, or another "
        "one, where it could get around a rule.",
    )

    @model_validator(mode="after")
    def _check_one_role(self) -> "RoleRule":
        if (self.role is None) == (self.from_label is None):
            raise ValueError("a rule gives a role or names the label that does: set either role or fromLabel")
        return self

    @model_validator(mode="after")
    def _check_some_condition(self) -> "RoleRule":
        conditions = (self.namespaces, self.kinds, self.images, self.commands, self.labels)
        if self.role is not None and not any(conditions):
            raise ValueError(
                f"the rule gives every workload the role {self.role}; set namespaces, kinds, images, commands or labels"
            )
        return self


RoleRules = Annotated[list[RoleRule], Field(max_length=MOST_RULES)]
