"""Entries of usher.yaml that would never do anything, or not what they seem to."""

from collections.abc import Collection

import yaml

from usher.config import models
from usher.policy import config_problems
from usher.policy.checks import catalogue

ENTRIES = catalogue.load().catalogue


def config(text: str) -> models.Config:
    return models.Config.model_validate(yaml.safe_load(text))


def problems(text: str) -> list[tuple[str, str]]:
    return list(config_problems.problems(config(text), ENTRIES))


def warnings(text: str, known: Collection[str] | None = None) -> list[tuple[str, str]]:
    return list(config_problems.warnings(config(text), known))


def test_an_entry_behind_one_for_the_same_workloads_is_never_reached() -> None:
    assert problems("queues: [{namespaces: ['ml-*'], localQueue: a}, {namespaces: [ml-nlp], localQueue: b}]") == [
        ("/queues/1", "never reached: entry 0 before it is for the same workloads")
    ]
    assert problems("routing: [{queue: a}, {queue: b, namespaces: [x]}]") == [
        ("/routing/1", "never reached: entry 0 before it is for the same workloads")
    ]


def test_an_exception_before_a_rule_is_good() -> None:
    text = "queues: [{namespaces: [ml-nlp], localQueue: a}, {namespaces: ['ml-*'], localQueue: b}]"

    assert problems(text) == []
    assert warnings(text) == []


def test_an_unknown_kind_is_a_problem() -> None:
    assert problems("routing: [{kinds: [PyTorchJobs, batch/Job, kubeflow.org/PyTorchJob]}]") == [
        ("/routing/0/kinds/0", "usher knows no workloads of kind PyTorchJobs; did you mean PyTorchJob?")
    ]


def test_a_board_that_mig_does_not_divide_is_a_problem() -> None:
    pools = "pools: [{name: a, nodeSelector: {a: b}, gpu: {perNode: 8, board: %s}}]"

    ((place, reason),) = problems(pools % "H100")
    assert place == "/pools/0/gpu/board"
    assert reason == "usher knows no board H100 that MIG divides; did you mean H100-80 or H100-94 or H100-96?"
    ((_, reason),) = problems(pools % "Quadro")
    assert reason.startswith("usher knows no board Quadro that MIG divides; there are A100-40, A100-80, A30-24")
    assert problems(pools % "H100-80") == []


def test_two_routes_for_some_of_the_same_workloads_are_warned_about() -> None:
    text = "routing: [{namespaces: ['ml-*'], queue: a}, {kinds: [PyTorchJob, JobSet], queue: b}]"

    assert warnings(text) == [("/routing/1", "some workloads fit entry 0 as well, which decides about them")]


def test_exempt_namespaces_add_to_the_default_ones_and_judged_namespaces_give_one_up() -> None:
    added = config("exemptNamespaces: [sandbox]").exempt_namespaces
    assert added == [*models.DEFAULT_EXEMPT_NAMESPACES, "sandbox"]
    assert set(config("judgedNamespaces: [gpu-*]").exempt_namespaces) == {
        *("kube-system", "kube-public", "kube-node-lease")
    }


def test_usher_says_which_exemption_a_setting_gives_up() -> None:
    ((place, reason),) = warnings("judgedNamespaces: [gpu-operator]")
    assert place == "/judgedNamespaces/0"
    assert reason.startswith("gives up the exemption of gpu-operator: usher may change or deny the drivers")
    ((place, _),) = warnings("exemptNamespaces: ['*']")
    assert place == "/exemptNamespaces"
    assert warnings("exemptNamespaces: [sandbox]") == []


def test_a_judged_namespace_that_is_not_exempt_by_default_or_exempt_too_is_a_problem() -> None:
    ((place, reason),) = problems("judgedNamespaces: [sandbox]")
    assert (place, reason[:36]) == ("/judgedNamespaces/0", "usher exempts no sandbox by default;")
    assert problems("{judgedNamespaces: [kube-system], exemptNamespaces: ['kube-*']}") == [
        ("/judgedNamespaces/0", "exemptNamespaces has kube-system too; leave it out of one of the two")
    ]


def test_a_pattern_for_exempt_namespaces_alone_is_without_effect() -> None:
    assert warnings("queues: [{namespaces: [kube-system, 'kube-*'], localQueue: a}]") == [
        ("/queues/0/namespaces/0", "kube-system is among exemptNamespaces, in which nothing is changed")
    ]


def test_a_pattern_that_fits_no_known_namespace_causes_a_warning() -> None:
    text = "priorities: {classes: [{namespaces: [reserch-*, web], priorityClass: low}]}"

    assert warnings(text) == []
    assert warnings(text, {"research-nlp", "web"}) == [
        ("/priorities/classes/0/namespaces/0", "reserch-* does not match any of the 2 known namespaces")
    ]


LIMITS = "limits: [{hard: {gpus: 8}}]"


def test_two_quotas_for_one_namespace_are_a_problem() -> None:
    text = f"quotas: [{{name: a, namespaces: ['ml-*'], {LIMITS}}}, {{name: b, namespaces: [web, '*-nlp'], {LIMITS}}}]"

    assert problems(text) == [
        ("/quotas/1", "quota a (entry 0) can select the same namespace, but only one quota may hold for it")
    ]
    assert warnings(text) == []


def test_quotas_that_choose_by_labels_are_warned_about_unless_labels_keep_them_apart() -> None:
    first = f"{{name: a, namespaceSelector: {{matchLabels: {{team: nlp}}}}, {LIMITS}}}"
    apart = [
        "matchLabels: {team: vision}",
        "matchExpressions: [{key: team, operator: NotIn, values: [nlp, web]}]",
        "matchExpressions: [{key: team, operator: DoesNotExist}]",
    ]
    for selector in (*apart, "matchLabels: {tier: gold}", "matchExpressions: [{key: team, operator: Exists}]"):
        text = f"quotas: [{first}, {{name: b, namespaceSelector: {{{selector}}}, {LIMITS}}}]"
        told = [("/quotas/1", "quota a (entry 0) may select the same namespace; then neither is enforced there")]

        assert problems(text) == []
        assert warnings(text) == ([] if selector in apart else told)


def test_a_quota_that_assumes_an_unknown_board_is_a_problem() -> None:
    found = problems(f"quotas: [{{name: a, namespaces: [x], assumes: {{board: A9000}}, {LIMITS}}}]")

    assert found[0][0] == "/quotas/0/assumes/board"
    assert found[0][1].startswith("A9000 is not a board that gpu-usher knows; it knows A100-40, ")


def test_a_quota_of_namespaces_that_are_exempt_or_not_there_is_warned_about() -> None:
    text = f"quotas: [{{name: a, namespaces: [kube-system, web], {LIMITS}}}]"

    assert warnings(text, {"ml"}) == [
        ("/quotas/0/namespaces/0", "kube-system is among exemptNamespaces, in which nothing is changed"),
        ("/quotas/0/namespaces/1", "web does not match any of the 1 known namespaces"),
    ]


def test_a_rule_of_roles_for_an_unknown_kind_is_a_problem() -> None:
    assert problems("roles: [{kinds: [Job, Deploymnt], role: batch}]") == [
        ("/roles/0/kinds/1", "usher knows no workloads of kind Deploymnt; did you mean Deployment?")
    ]


def test_a_role_that_everybody_can_take_by_a_label_gives_a_warning() -> None:
    assert warnings("roles: [{labels: {team: a}, role: system}, {fromLabel: team/role}]") == [
        (
            "/roles/0",
            "every user of the cluster can take the role system by the label team; set namespaces whose users may",
        ),
        (
            "/roles/1",
            "every user of the cluster can take any role by the label team/role; set namespaces whose users may",
        ),
    ]
    assert warnings("roles: [{namespaces: [a], labels: {team: a}, role: system}, {kinds: [Job], role: batch}]") == []


def test_an_exception_for_a_kind_that_usher_does_not_judge_gives_a_warning() -> None:
    text = (
        "enforcement: {exceptions: [{checks: [USH301], kinds: [Deploymnt, ResourceFlavor], owner: a, reason: b, "
        "ticket: c, expires: 2026-12-01}]}"
    )

    assert warnings(text) == [
        (
            "/enforcement/exceptions/0/kinds/0",
            "usher judges no objects of kind Deploymnt; did you mean Deployment?",
        )
    ]
