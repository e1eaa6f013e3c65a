"""Items about the isolation of tenants: quotas, Pod Security, networks, access to devices, sandboxes."""

from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.document import Standing
from usher.audit.readiness import drivers, judgement
from usher.audit.readiness.judgement import Item, Judgement, failed, not_applicable, not_known, passed
from usher.audit.readiness.look import Look
from usher.audit.readiness.wanted import NETWORK_POLICY
from usher.audit.standing.wanted import VALIDATING
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.resource_quota import read as resource_quota_read
from usher.install import registered_webhooks
from usher.install.manifests.webhooks import NAME
from usher.kinds.reading.values import Absence

_AREA: Final = "isolation"
_CONFORMANCE: Final = "https://github.com/cncf/k8s-ai-conformance/blob/main/docs/AIConformance-1.37.yaml"
_ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_LEVELS: Final = ("baseline", "restricted")
_NO_TENANTS: Final = "no namespace of a tenant has workloads with accelerators"
_CONSTRAINTS: Final = "securitycontextconstraints.security.openshift.io"
_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
_OTHER_POLICIES: Final = (
    *("ciliumnetworkpolicies.cilium.io", "ciliumclusterwidenetworkpolicies.cilium.io"),
    *("globalnetworkpolicies.crd.projectcalico.org", "adminnetworkpolicies.policy.networking.k8s.io"),
)
"""Definitions of policies other than NetworkPolicies that may deny traffic."""

_SANDBOXES: Final = ("kata", "runsc", "gvisor", "firecracker")
"""Parts of the handler names of runtimes that isolate pods from the kernel of their node."""


def quotas(look: Look) -> Judgement:
    """Whether a quota bounds the accelerators of each namespace."""
    facts = look.known.facts
    if not look.tenants:
        return not_applicable(_NO_TENANTS)
    unknown = [
        name
        for name, known in (
            ("resourcequotas", facts.knows("", "ResourceQuota")),
            (f"gpuquotas.{GROUP}", facts.knows(GROUP, KIND)),
        )
        if not known
    ]
    without = [name for name in look.tenants if not _has_quota(name, look)]
    if without:
        if unknown:
            return judgement.not_listed(*unknown)
        return failed(f"namespaces without a quota of accelerators: {fields.listing(without)}")
    return passed(f"namespaces with a quota of accelerators: {fields.listing(look.tenants)}")


def _has_quota(namespace: str, look: Look) -> bool:
    if isinstance(assignment.quota_of_namespace(look.known, namespace), Quota):
        return True
    objects = look.known.facts.objects("", "ResourceQuota", namespace)
    found = () if isinstance(objects, Absence) else resource_quota_read.read(objects).all
    names = (name.removeprefix("requests.") for quota in found for name in quota.hard)
    return any(look.known.vocabulary_of_cluster.contains(name) for name in names)


def pod_security(look: Look) -> Judgement:
    """Whether each namespace enforces a level of Pod Security."""
    if not look.tenants:
        return not_applicable(_NO_TENANTS)
    levels: dict[str, str | None] = {}
    for name in look.tenants:
        labels = look.labels(name)
        levels[name] = None if labels is None else labels.get(_ENFORCE, "")
    without = [name for name, level in levels.items() if level is not None and level not in _LEVELS]
    if without and _CONSTRAINTS in (look.definitions or ()):
        return not_known(
            f"namespaces that enforce neither baseline nor restricted: {fields.listing(without)}",
            "SecurityContextConstraints of OpenShift hold there, and usher does not read them",
        )
    if without:
        return failed(f"namespaces that enforce neither baseline nor restricted: {fields.listing(without)}")
    if None in levels.values():
        return judgement.not_listed("namespaces")
    return passed(f"namespaces that enforce baseline or restricted: {fields.listing(look.tenants)}")


def network_policies(look: Look) -> Judgement:
    """Whether each namespace has a policy that denies incoming traffic by default."""
    if not look.tenants:
        return not_applicable(_NO_TENANTS)
    listed = fields.listed(look.estate, *NETWORK_POLICY.key)
    if listed is None:
        return judgement.not_wanted([NETWORK_POLICY])
    closed = {fields.namespace(each) for each in listed if _denies_by_default(each)}
    without = [name for name in look.tenants if name not in closed]
    others = [each for each in _OTHER_POLICIES if each in (look.definitions or ())]
    if without and others:
        return not_known(
            f"namespaces without a NetworkPolicy that denies incoming traffic by default: {fields.listing(without)}",
            f"usher does not read {fields.listing(others)}, which may deny it",
        )
    if without:
        return failed(f"namespaces without a policy that denies incoming traffic by default: {fields.listing(without)}")
    return passed(
        f"namespaces that deny incoming traffic by default: {fields.listing(look.tenants)}",
        "RDMA does not pass through NetworkPolicies",
    )


def _denies_by_default(policy: paths.Object) -> bool:
    """Whether a policy selects all pods and allows incoming traffic only from senders that it names."""
    selector = fields.at(policy, "/spec/podSelector")
    types = fields.texts(policy, "/spec/policyTypes")
    selects_all = isinstance(selector, Mapping) and not any(selector.values())
    rules = fields.at(policy, "/spec/ingress") or []
    return (
        selects_all
        and ("Ingress" in types or not types)
        and isinstance(rules, list)
        and all(map(_names_senders, rules))
    )


def _names_senders(rule: paths.Json) -> bool:
    """Whether a rule names pods or addresses as senders, and does not allow all namespaces or networks."""
    senders = fields.objects(rule, "/from")
    everywhere = any(
        each.get("namespaceSelector") == {} or fields.text(each, "/ipBlock/cidr") in _EVERYWHERE for each in senders
    )
    return bool(senders) and not everywhere


def secure_access(look: Look) -> Judgement:
    """Whether containers reach accelerators only through the device plugin or DRA.

    The evidence is a toolkit without known escapes, and usher's webhooks, which judge pods that bypass the plugin.
    """
    escapes = drivers.toolkit_version(look)
    if escapes.standing in (Standing.FAIL, Standing.NOT_APPLICABLE):
        return escapes
    webhooks = fields.listed(look.estate, *VALIDATING)
    if webhooks is None:
        return judgement.not_listed(f"validatingwebhookconfigurations.{VALIDATING[0]}")
    ours = [
        each
        for each in registered_webhooks.read_webhooks(webhooks, mutating=False)
        if each.configuration.startswith(NAME)
    ]
    if not any(each.creates("", "pods") for each in ours):
        return failed(
            "no webhook of usher judges Pods, so a container may ask for all GPUs of its node by "
            "NVIDIA_VISIBLE_DEVICES or a host path"
        )
    seen = "webhooks of usher judge pods that take devices past the device plugin (USH201 to USH218)"
    if escapes.standing is Standing.NOT_KNOWN:
        return not_known(*escapes.evidence, seen)
    return passed(*escapes.evidence, seen)


def sandboxing(look: Look) -> Judgement:
    """Whether a RuntimeClass isolates pods from the kernel of their node."""
    classes = look.known.facts.objects("node.k8s.io", "RuntimeClass")
    if isinstance(classes, Absence):
        return judgement.not_listed("runtimeclasses.node.k8s.io")
    found = {name: fields.text(value, "/handler") for name, value in sorted(classes.items())}
    sandboxes = [name for name, handler in found.items() if any(word in handler for word in _SANDBOXES)]
    if sandboxes:
        return passed(f"RuntimeClass {fields.listing(sandboxes)}")
    return not_applicable("no RuntimeClass is a sandbox; only clusters that run code of others need one")


ITEMS: Final = (
    Item(
        id="quotas",
        area=_AREA,
        title="A quota bounds the accelerators of each namespace",
        how="Each namespace of a tenant has a ResourceQuota of an accelerator, or one GPUQuota holds for it.",
        remedy="Add a GPUQuota for the namespaces, or a ResourceQuota with requests.nvidia.com/gpu.",
        reference="docs/quota.md",
        judge=quotas,
    ),
    Item(
        id="pod-security",
        area=_AREA,
        title="Namespaces enforce a level of Pod Security",
        how="Each namespace of a tenant has the label pod-security.kubernetes.io/enforce with baseline or restricted.",
        remedy="Label the namespaces; add IPC_LOCK by a fabric profile only where training needs it.",
        reference="https://kubernetes.io/docs/concepts/security/pod-security-admission/",
        judge=pod_security,
    ),
    Item(
        id="network-policies",
        area=_AREA,
        title="Namespaces deny incoming traffic by default",
        how="Each namespace of a tenant has a NetworkPolicy that selects all pods and allows no incoming traffic, or "
        "only that of senders that it names.",
        remedy="Add a policy that denies incoming traffic, and one that allows it within the namespace.",
        reference="https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-deny-all-ingress-traffic",
        judge=network_policies,
    ),
    Item(
        id="accelerator-access",
        area=_AREA,
        title="Containers reach accelerators only through Kubernetes",
        how="The container toolkit has no known escapes, and a validating webhook of usher judges Pods.",
        remedy="Update the toolkit, and register usher's webhooks.",
        reference=_CONFORMANCE,
        conformance="secure_accelerator_access",
        judge=secure_access,
    ),
    Item(
        id="sandboxes",
        area=_AREA,
        title="Code of others can run in a sandbox",
        how="The handler of a RuntimeClass is kata, gVisor or Firecracker.",
        remedy="Install a sandbox and its RuntimeClass, if agents or tenants run code that is not trusted.",
        reference=_CONFORMANCE,
        conformance="workload_sandboxing",
        judge=sandboxing,
    ),
)
