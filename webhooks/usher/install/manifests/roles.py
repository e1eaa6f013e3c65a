"""RBAC roles of the server and of `usher audit`, derived from the registries. Of Secrets, only its own is read.

A constraint names kinds, and RBAC names resources. As in the rules of webhooks, a group that usher does not know is
named as a whole. RBAC cannot exclude resources from a wildcard, so no rule has all groups, or all of the core group
with its Secrets.

It also has the ConfigMaps that fabrics mount, for the namespaces that need them: the webhook makes no objects itself.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from usher import errors, paths
from usher.authorities.gpu_quota.definitions import GROUP, namespace_of_accounts
from usher.config import models
from usher.extensions.gatekeeper.library import ANY_KIND, MatchedKind
from usher.install.manifests import webhooks
from usher.install.manifests.conditions import manifest
from usher.kinds import registry
from usher.kinds.kind import KUEUE_CONFIGURATION
from usher.kinds.registry import ASKED_FACTS, LISTED, WORKLOADS

ACCOUNT: Final = "gpu-usher"
"""Name of the server's service account, and of its namespace."""

AUDIT_NAME: Final = "gpu-usher-audit"
CONFIG_MAPS_NAME: Final = "gpu-usher-config-maps"
EVENTS_NAME: Final = "gpu-usher-events"
FACTS_NAME: Final = "gpu-usher-facts"
METRICS_NAME: Final = "gpu-usher-metrics"
METRICS_READER_NAME: Final = "gpu-usher-metrics-reader"
PORTAL_USER_NAME: Final = "gpu-usher-portal-user"
QUOTA_NAME: Final = "gpu-usher-quotas"

CERTIFICATES_NAME: Final = "gpu-usher-certificates"
"""Also the name of the Secret."""

WEBHOOKS: Final = "gpu-usher"
"""Name of our webhook configurations."""

VERBS: Final = ("get", "list", "watch")
_VERBS_OF_LISTS: Final = ("list", "watch")

_API_GROUP: Final = "rbac.authorization.k8s.io"
_API_VERSION: Final = f"{_API_GROUP}/v1"


def rules(resources: Iterable[tuple[str, str]], *, verbs: Sequence[str]) -> list[paths.Json]:
    """One rule for each API group of the resources (group, plural), in a stable order."""
    plurals: dict[str, set[str]] = {}
    for group, plural in resources:
        plurals.setdefault(group, set()).add(plural)
    return [
        {"apiGroups": [group], "resources": [*sorted(found)], "verbs": [*verbs]}
        for group, found in sorted(plurals.items())
    ]


def audit_role(others: Iterable[tuple[str, str]]) -> paths.Object:
    """A ClusterRole for audits: it may list every kind that usher knows or reads, and nothing else.

    Args:
        others: groups and plurals of the kinds that only audits read.
    """
    return cluster_role(AUDIT_NAME, rules([*_audited(), *others], verbs=["list"]))


def audit_policy_rules(
    policies: Iterable[tuple[str, str]], *, others: Iterable[tuple[str, str]]
) -> Sequence[paths.Json]:
    """The rules that audits by policies of a site need beyond `audit_role`.

    Args:
        policies: groups and plurals of the kinds that the policies read.
        others: as for `audit_role`.
    """
    return rules(set(policies) - {*_audited(), *others}, verbs=["list"])


def _audited() -> Sequence[tuple[str, str]]:
    """Groups and plurals of the kinds that audits and the server know."""
    return [*((kind.group, kind.plural) for kind in LISTED), *((kind.group, kind.plural) for kind in ASKED_FACTS)]


def facts_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A ClusterRole that may read every kind of fact except ConfigMaps, bound to the server's account."""
    kinds = [kind for kind in ASKED_FACTS if not kind.by_choice]
    full_rules = rules([(kind.group, kind.plural) for kind in kinds if not kind.presence_only], verbs=VERBS)
    names = rules([(kind.group, kind.plural) for kind in kinds if kind.presence_only], verbs=_VERBS_OF_LISTS)
    return role_of_cluster(FACTS_NAME, [*full_rules, *names], namespace=namespace)


def config_map_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A ClusterRole that may list ConfigMaps in all namespaces, for sites that want it.

    usher asks only for the names of ConfigMaps, but RBAC has no right for names alone: an account that may list them
    may read them. Without this role ConfigMaps are unknown, except the one of `kueue_role`.
    """
    names = rules([(kind.group, kind.plural) for kind in ASKED_FACTS if kind.by_choice], verbs=_VERBS_OF_LISTS)
    return role_of_cluster(CONFIG_MAPS_NAME, names, namespace=namespace)


def cluster_role(name: str, allowed: Sequence[paths.Json]) -> paths.Object:
    """A ClusterRole with these rules."""
    return manifest(_API_VERSION, "ClusterRole", name, rules=[*allowed])


def role_of_cluster(name: str, allowed: Sequence[paths.Json], *, namespace: str) -> Sequence[paths.Object]:
    """A ClusterRole with these rules, bound to the server's account."""
    return cluster_role(name, allowed), binding("ClusterRole", name, account=(namespace, ACCOUNT))


def kueue_role(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A Role in Kueue's namespace that may read Kueue's own configuration, bound to the server's account."""
    place, name = KUEUE_CONFIGURATION
    read: paths.Object = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name], "verbs": [*VERBS]}
    return role_of_namespace(FACTS_NAME, [read], place=place, account_namespace=namespace)


def role_of_namespace(
    name: str, allowed: Sequence[paths.Json], *, place: str, account_namespace: str
) -> Sequence[paths.Object]:
    """A Role with these rules in a namespace, bound to the server's account."""
    role = manifest(_API_VERSION, "Role", name, namespace=place, rules=[*allowed])
    return role, binding("Role", name, account=(account_namespace, ACCOUNT), place=place)


def binding(kind: str, name: str, *, account: tuple[str, str], place: str = "") -> paths.Object:
    """Binds a role of that kind and name to an account, by its namespace and name."""
    namespace, account_name = account
    return manifest(
        _API_VERSION,
        f"{kind}Binding",
        name,
        namespace=place,
        roleRef={"apiGroup": _API_GROUP, "kind": kind, "name": name},
        subjects=[{"kind": "ServiceAccount", "name": account_name, "namespace": namespace}],
    )


def quota_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A ClusterRole to charge GPUQuotas. Without it, reviews of workloads under a GPUQuota fail."""
    workloads = [(kind.group, kind.plural) for kind in WORKLOADS.values() if kind.plural and not kind.is_template]
    written: paths.Object = {"apiGroups": [GROUP], "resources": ["gpuquotas/status"], "verbs": ["update"]}
    return role_of_cluster(QUOTA_NAME, [*rules(workloads, verbs=VERBS), written], namespace=namespace)


def account_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A Role for the ConfigMaps that keep accounts of quotas, in a namespace of their own.

    They are the accounts of the quotas of usher.yaml, and the parts of all large accounts.

    RBAC cannot restrict `create` to names. In the server's own namespace it would be the right to write usher.yaml.
    `list` and `delete` are for accounts of quotas that usher.yaml no longer declares, and for unused parts.
    """
    verbs: list[paths.Json] = ["get", "list", "create", "update", "delete"]
    kept: paths.Object = {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}
    return role_of_namespace(QUOTA_NAME, [kept], place=namespace_of_accounts(namespace), account_namespace=namespace)


def events_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A ClusterRole to write Events on the controllers of denied pods, and to check that these exist."""
    workloads = [(kind.group, kind.plural) for kind in WORKLOADS.values() if kind.plural and not kind.is_template]
    written = rules([("", "events")], verbs=["create", "patch"])
    return role_of_cluster(EVENTS_NAME, [*written, *rules(workloads, verbs=["get"])], namespace=namespace)


def metrics_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """A bound ClusterRole to check tokens and the rights of their owners; and an unbound one to read the metrics."""
    asked = [
        *rules([("authentication.k8s.io", "tokenreviews")], verbs=["create"]),
        *rules([("authorization.k8s.io", "subjectaccessreviews")], verbs=["create"]),
    ]
    reader = cluster_role(METRICS_READER_NAME, [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}])
    return (*role_of_cluster(METRICS_NAME, asked, namespace=namespace), reader)


def portal_role() -> paths.Object:
    """A ClusterRole for users of the portal; Kubernetes has no resources of these names."""
    asked = rules([("gpu-usher.io", "evaluations"), ("gpu-usher.io", "outlooks")], verbs=["create"])
    read = rules([("gpu-usher.io", "gpuquotas")], verbs=["get", "list"])
    return cluster_role(PORTAL_USER_NAME, [*asked, *read])


def certificate_roles(*, namespace: str = ACCOUNT) -> Sequence[paths.Object]:
    """The right to keep a self-managed certificate: one Secret, and patches of our own webhook configurations.

    `create` has a name as well, so it allows only server-side apply, where the request names the object: RBAC refuses a
    POST. manifests/base limits the patches to caBundle, because RBAC cannot.
    """
    verbs: list[paths.Json] = ["get", "create", "update", "patch"]
    kept: paths.Object = {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": [CERTIFICATES_NAME],
        "verbs": verbs,
    }
    patched: paths.Object = {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
        "resourceNames": [WEBHOOKS],
        "verbs": ["get", "patch"],
    }
    return (
        *role_of_namespace(CERTIFICATES_NAME, [kept], place=namespace, account_namespace=namespace),
        *role_of_cluster(CERTIFICATES_NAME, [patched], namespace=namespace),
    )


_SECRET: Final = MatchedKind(group="", kind="Secret")

_CORE: Final = frozenset(
    {kind.kind for kind in registry.KINDS if not kind.group and (kind.listed or kind.facts)}
    | {"Endpoints", "PersistentVolume", "PersistentVolumeClaim", "Service", "ServiceAccount"}
)
"""Kinds of the core group that are stored, without Secrets and Events."""


class Listed(Struct, frozen=True, kw_only=True):
    resources: tuple[tuple[str, str], ...]
    """Groups and plurals; `*` for all of a group."""
    left_out: tuple[str, ...]
    """Kinds of the policies that no rule names, with the reason and the remedy."""


def resources_to_list(kinds: Collection[MatchedKind]) -> Listed:
    """The resources to list for these kinds."""
    found = {resource for each in kinds for resource in _resources(each)}
    return Listed(resources=tuple(sorted(found)), left_out=tuple(_left_out(kinds)))


def _resources(each: MatchedKind) -> Iterator[tuple[str, str]]:
    if each == _SECRET:
        return
    if each.group == ANY_KIND:
        known = {MatchedKind(group=group, kind=kind) for group, kind in registry.BY_KEY}
        known |= {MatchedKind(group="", kind=kind) for kind in _CORE}
        for one in known:
            if each.includes(one.group, one.kind):
                yield one.group, webhooks.plural_of_kind(one)
    elif each.kind == ANY_KIND and not each.group:
        for kind in _CORE:
            yield "", webhooks.plural_of_kind(MatchedKind(group="", kind=kind))
    else:
        yield each.group, webhooks.plural_of_kind(each) if webhooks.is_named(each) else ANY_KIND


def _left_out(kinds: Collection[MatchedKind]) -> Iterator[str]:
    if _SECRET in kinds:
        yield (
            "a policy is about Secrets: the role leaves them out, because an account that may list them may read them. "
            "Add a rule of your own if audits are to judge them"
        )
    for each in sorted(kinds):
        if each.group == ANY_KIND:
            what = "all kinds of all groups" if each.kind == ANY_KIND else f"the kind {each.kind} of all groups"
            yield (
                f"a policy is about {what}: the role names those that usher knows, because a rule for all would "
                "include Secrets. Name the groups in match.kinds, or add rules of your own"
            )


LARGEST: Final = 1024 * 1024
"""The most bytes of a ConfigMap; the API server sets this limit."""


def wanted(config: models.Config) -> dict[str, set[str]]:
    """The keys of each ConfigMap that the fabrics of pools mount, by the name of the ConfigMap."""
    found: dict[str, set[str]] = {}
    for fabric in sorted({pool.fabric for pool in config.pools if pool.fabric}):
        profile = config.fabric(fabric)
        for file in (profile.topology, profile.nccl_conf):
            if file is not None:
                found.setdefault(file.config_map, set()).add(file.key)
    return found


def config_maps(config: models.Config, *, files: Mapping[str, Path], namespaces: Sequence[str]) -> list[paths.Object]:
    """One ConfigMap for each name and namespace.

    Args:
        config: usher.yaml, whose pools name the fabrics.
        files: the file of each key.
        namespaces: where pods need them.

    Raises:
        InputError: a key has no file, a file has no key, or it cannot be read as text or is too large.
    """
    maps = wanted(config)
    if not maps:
        raise errors.InputError(
            "no fabric of a pool in usher.yaml mounts a file; set topology or ncclConf of the fabric"
        )
    keys = set().union(*maps.values())
    missing, stray = sorted(keys - files.keys()), sorted(files.keys() - keys)
    if missing:
        raise errors.InputError(f"{missing[0]} has no file; add --fabric-file {missing[0]}=PATH")
    if stray:
        raise errors.InputError(f"no fabric of a pool mounts {stray[0]}; these are mounted: {', '.join(sorted(keys))}")
    texts = {key: _read_text(files[key]) for key in sorted(keys)}
    for name, held in maps.items():
        if sum(len(texts[key].encode()) for key in held) > LARGEST:
            raise errors.InputError(
                f"ConfigMap {name} would have more than {LARGEST} bytes, which the API server refuses"
            )
    return [
        manifest("v1", "ConfigMap", name, namespace=namespace, data={key: texts[key] for key in sorted(maps[name])})
        for namespace in dict.fromkeys(namespaces)
        for name in sorted(maps)
    ]


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise errors.InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise errors.InputError(f"{file}: is not UTF-8 text, which a topology and nccl.conf are") from None
