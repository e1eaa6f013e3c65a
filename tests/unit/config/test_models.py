"""usher.yaml as models: safe when empty, and refused if a value makes no sense."""

from typing import Any

import pydantic
import pytest

from usher.config import fabrics, load, models, pools
from usher.config import sections as config_sections

HEAD = {"apiVersion": models.API_VERSION, "kind": "Config"}
POOL: dict[str, Any] = {"name": "h100", "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}}
FABRICS: dict[str, Any] = {"rails": {"env": {"NCCL_IB_HCA": "=mlx5_0:1"}}}


def refusals(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Place and reason of all that is wrong with a configuration."""
    with pytest.raises(pydantic.ValidationError) as refusal:
        models.Config.model_validate(config)
    return [
        (".".join(str(key) for key in detail["loc"]), detail["msg"].removeprefix("Value error, "))
        for detail in refusal.value.errors()
    ]


def places(config: dict[str, Any]) -> list[str]:
    return [place for place, _ in refusals(config)]


def test_an_empty_configuration_assumes_nothing_about_the_cluster() -> None:
    config = models.Config()

    assert config == models.Config.model_validate({})
    assert (config.api_version, config.kind) == ("gpu-usher.io/v1alpha1", "Config")
    assert config.pools == []
    assert config.fabrics == {}
    assert config.queues == []
    assert config.routing == []
    assert config.isolation.visible_devices == []
    assert config.enforcement == models.Enforcement(preset="recommended", rules=[])
    assert config.accelerators == config_sections.Accelerators(
        names=[], prefixes=[], resources={}, device_classes={}, ignored=[], taints={}
    )
    assert {"kube-system", "gpu-operator", "gpu-usher"} <= set(config.exempt_namespaces)
    assert "kube-system" in config.priorities.system_namespaces


def test_a_pool_offers_nvidia_gpus_on_nodes_without_taints_unless_it_says_otherwise() -> None:
    (pool,) = models.Config.model_validate({"pools": [POOL]}).pools

    assert pool.resources == ["nvidia.com/gpu"]
    assert pool.taints == []
    assert pool.fabric is None


def test_the_sections_have_the_defaults_that_people_expect() -> None:
    config = models.Config.model_validate(
        {
            "pools": [{**POOL, "taints": [{"key": "nvidia.com/gpu"}]}],
            "queues": [{"namespaces": ["research-*"], "localQueue": "research"}],
            "routing": [{}],
            "enforcement": {"rules": [{"check": "*", "action": "warn"}]},
        }
    )

    assert config.pools[0].taints == [pools.Taint(key="nvidia.com/gpu", value="", effect="NoSchedule")]
    assert config.queues[0].places_pods
    assert config.routing[0] == config_sections.Route(
        scheduler="volcano",
        kinds=["PyTorchJob", "MPIJob"],
        namespaces=["*"],
        queue="default",
        sets_minimum=False,
    )
    assert config.routing[0].name == "volcano"
    assert config.enforcement.rules[0].namespaces == ["*"]


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"pool": []}, "pool"),
        ({"pools": [{**POOL, "nodeselector": {}}]}, "pools.0.nodeselector"),
        ({"fabrics": {"ib": {"env": {"A": "b"}, "vars": {}}}}, "fabrics.ib.vars"),
        ({"enforcement": {"default": "deny"}}, "enforcement.default"),
        ({"queues": [{"namespaces": ["a"], "localQueue": "b", "clusterQueue": "c"}]}, "queues.0.clusterQueue"),
    ],
)
def test_an_unknown_key_is_refused_at_its_place(config: dict[str, Any], place: str) -> None:
    assert refusals(config) == [(place, "Extra inputs are not permitted")]


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"apiVersion": "gpu-usher.io/v1"}, "apiVersion"),
        ({"kind": "Configuration"}, "kind"),
        ({"pools": [{"name": "h100"}]}, "pools.0.nodeSelector"),
        ({"pools": [{**POOL, "nodeSelector": {}}]}, "pools.0.nodeSelector"),
        ({"pools": [{**POOL, "nodeSelector": {"present": True}}]}, "pools.0.nodeSelector.present"),
        ({"pools": [{**POOL, "nodeSelector": {"product": "H100 80GB"}}]}, "pools.0.nodeSelector.product"),
        ({"pools": [{**POOL, "taints": [{"key": "gpu", "effect": "noSchedule"}]}]}, "pools.0.taints.0.effect"),
        ({"pools": [{**POOL, "taints": [{"key": "gpu", "value": "a b"}]}]}, "pools.0.taints.0.value"),
        ({"pools": [{**POOL, "taints": [{"key": ""}]}]}, "pools.0.taints.0.key"),
        ({"fabrics": {"ib": {"env": {}}}}, "fabrics.ib"),
        ({"fabrics": {"ib": {"env": {"NCCL_DEBUG": 1}}}}, "fabrics.ib.env.NCCL_DEBUG"),
        ({"queues": [{"namespaces": [], "localQueue": "b"}]}, "queues.0.namespaces"),
        ({"routing": [{"kinds": []}]}, "routing.0.kinds"),
        ({"routing": [{"scheduler": "yunikorn"}]}, "routing.0.scheduler"),
        ({"enforcement": {"preset": "lax"}}, "enforcement.preset"),
        ({"enforcement": {"rules": [{"check": "*", "action": "block"}]}}, "enforcement.rules.0.action"),
        ({"exemptNamespaces": ["kube-[a-z]*"]}, "exemptNamespaces.0"),
        ({"exemptNamespaces": "kube-system"}, "exemptNamespaces"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_stands(config: dict[str, Any], place: str) -> None:
    assert places(config) == [place]


@pytest.mark.parametrize(
    "name", ["", "H100", "h 100", "-h100", "h100-", "h100_80", "h100\n", "h\u0661", "a" * 254, "../h100"]
)
def test_a_name_that_kubernetes_does_not_allow_is_refused(name: str) -> None:
    assert places({"pools": [{**POOL, "name": name}]}) == ["pools.0.name"]
    assert places({"pools": [{**POOL, "fabric": name}], "fabrics": {}}) == ["pools.0.fabric"]
    assert places({"fabrics": {name: {"env": {"A": "b"}}}}) == [f"fabrics.{name}.[key]"]


@pytest.mark.parametrize("name", ["a", "h100", "h100-80gb.fast", "0"])
def test_a_name_that_is_one_in_kubernetes_is_taken(name: str) -> None:
    assert models.Config.model_validate({"pools": [{**POOL, "name": name}]}).pools[0].name == name


@pytest.mark.parametrize("key", ["", "gpu product", "/gpu", "nvidia.com/", "nvidia.com/gpu/product", "NVIDIA.com/gpu"])
def test_a_label_that_no_node_can_carry_is_refused(key: str) -> None:
    assert places({"pools": [{**POOL, "nodeSelector": {key: "x"}}]}) == [f"pools.0.nodeSelector.{key}.[key]"]


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ({"names": [""]}, "accelerators.names.0"),
        ({"names": ["nvidia.com/*"]}, "accelerators.names.0"),
        ({"prefixes": [""]}, "accelerators.prefixes.0"),  # every resource, cpu too, would be an accelerator
        ({"prefixes": ["*"]}, "accelerators.prefixes.0"),
        ({"taints": {"": "gpu"}}, "accelerators.taints..[key]"),
        ({"taints": {"nvidia.com/": ""}}, "accelerators.taints.nvidia.com/"),
    ],
)
def test_a_vocabulary_that_would_mean_every_resource_is_refused(section: dict[str, Any], place: str) -> None:
    assert places({"accelerators": section}) == [place]


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ({"names": ["a" * 318]}, "accelerators.names.0"),
        ({"names": [f"example.com/{index}" for index in range(1001)]}, "accelerators.names"),
        ({"prefixes": [f"example.com/{index}-" for index in range(101)]}, "accelerators.prefixes"),
        ({"ignored": ["example.com/*"]}, "accelerators.ignored.0"),
        ({"resources": {"": {}}}, "accelerators.resources..[key]"),
        ({"resources": {"a": {"unit": "gpu"}}}, "accelerators.resources.a.unit"),
        ({"resources": {"a": {"unit": "memory", "size": 0}}}, "accelerators.resources.a.size"),
        ({"resources": {"a": {"vendor": "NVIDIA Corporation"}}}, "accelerators.resources.a.vendor"),
        ({"resources": {"a": "share"}}, "accelerators.resources.a"),
        ({"deviceClasses": {"My GPUs": {}}}, "accelerators.deviceClasses.My GPUs.[key]"),
        ({"deviceClasses": {"a": {"resource": "nvidia.com/*"}}}, "accelerators.deviceClasses.a.resource"),
        ({"deviceClasses": {"a": True}}, "accelerators.deviceClasses.a"),
    ],
)
def test_what_cannot_be_meant_of_an_accelerator_is_refused_where_it_stands(section: dict[str, Any], place: str) -> None:
    assert places({"accelerators": section}) == [place]


def test_a_name_cannot_be_ignored_and_an_accelerator() -> None:
    section = {"names": ["a", "b"], "resources": {"c": {}, "d": {}}, "ignored": ["c", "b", "e"]}

    ((place, reason),) = refusals({"accelerators": section})

    assert place == "accelerators"
    assert reason.split("; ") == [
        "ignored lists b, which names or resources makes an accelerator: leave one of them out",
        "ignored lists c, which names or resources makes an accelerator: leave one of them out",
    ]


def test_a_prefix_cannot_be_described_that_is_not_listed() -> None:
    resources = {"example.com/slice-": {"unit": "partition"}, "example.com/gpu": {}}

    assert refusals({"accelerators": {"resources": resources}}) == [
        (
            "accelerators",
            "resources describes the prefix example.com/slice-, which is missing in prefixes: add it there",
        )
    ]
    listed = {"accelerators": {"prefixes": ["example.com/slice-"], "resources": resources}}
    assert models.Config.model_validate(listed).accelerators.resources["example.com/slice-"].unit == "partition"


def test_a_size_is_refused_for_a_unit_without_a_size() -> None:
    section = {"resources": {"example.com/gpu": {"unit": "device", "size": 8}}}

    assert refusals({"accelerators": section}) == [
        (
            "accelerators.resources.example.com/gpu",
            "the unit device has no size; leave size out, or choose memory or cores",
        )
    ]


def test_a_class_that_is_not_an_accelerator_cannot_stand_for_one() -> None:
    section = {"deviceClasses": {"nic": {"accelerator": False, "resource": "nvidia.com/gpu"}}}

    assert refusals({"accelerators": section}) == [
        (
            "accelerators.deviceClasses.nic",
            "a class that is not an accelerator cannot stand for nvidia.com/gpu; leave one of them out",
        )
    ]


def test_a_pool_cannot_name_a_missing_fabric() -> None:
    h100, a100 = {**POOL, "fabric": "rails"}, {**POOL, "name": "a100", "fabric": "tracks"}

    def reason(missing: str, *known: str) -> str:
        named = ", ".join(sorted([*fabrics.shipped_fabrics(), *known]))
        return f"the fabric {missing} is neither shipped nor in fabrics; there are {named}"

    assert load.find_mistakes({**HEAD, "pools": [h100]}) == [("/pools/0/fabric", reason("rails"))]
    assert load.find_mistakes({**HEAD, "pools": [h100, a100], "fabrics": FABRICS}) == [
        ("/pools/1/fabric", reason("tracks", "rails"))
    ]
    assert load.find_mistakes({**HEAD, "pools": [h100], "fabrics": FABRICS}) == []


def test_a_pool_can_name_a_fabric_that_is_shipped() -> None:
    config = models.Config.model_validate({"pools": [{**POOL, "fabric": "infiniband"}]})

    assert config.fabric("infiniband") is fabrics.shipped_fabrics()["infiniband"].profile


def test_a_fabric_that_is_wrong_itself_is_the_only_thing_that_is_said() -> None:
    config = {"pools": [{**POOL, "fabric": "rails"}], "fabrics": {"rails": {"env": {}}}}

    assert places(config) == ["fabrics.rails"]


def test_pools_and_quotas_have_names_of_their_own() -> None:
    pools: Any = [POOL, {**POOL, "name": "a100"}, POOL]
    quota: Any = {"name": "lab", "namespaces": ["lab"], "limits": [{"hard": {"gpus": 1}}]}

    assert load.find_mistakes({**HEAD, "pools": pools, "quotas": [quota, quota]}) == [
        ("/pools/0/name", "several pools are named h100; give each of them a name of its own"),
        ("/pools/2/name", "several pools are named h100; give each of them a name of its own"),
        ("/quotas/0/name", "several quotas are named lab; give each of them a name of its own"),
        ("/quotas/1/name", "several quotas are named lab; give each of them a name of its own"),
    ]


@pytest.mark.parametrize("name", ["NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"])
def test_a_fabric_cannot_say_which_devices_a_container_sees(name: str) -> None:
    why = "it decides which devices a container sees, and only the device plugin may decide that"

    assert refusals({"fabrics": {"ib": {"env": {name: "all", "NCCL_DEBUG": "WARN"}}}}) == [
        ("fabrics.ib.env", f"{name} cannot be set here: {why}")
    ]


@pytest.mark.parametrize("name", ["MASTER_ADDR", "MASTER_PORT", "RANK", "LOCAL_RANK", "WORLD_SIZE"])
def test_a_fabric_cannot_set_what_differs_from_pod_to_pod(name: str) -> None:
    assert refusals({"fabrics": {"ib": {"env": {name: "1"}}}}) == [
        (
            "fabrics.ib.env",
            f"{name} cannot be set here: it differs from pod to pod, and the operator of the job sets it",
        )
    ]


def test_all_reserved_variables_of_a_fabric_are_named_at_once() -> None:
    ((_, reason),) = refusals({"fabrics": {"ib": {"env": {"RANK": "0", "CUDA_VISIBLE_DEVICES": "0"}}}})

    assert "RANK cannot be set here" in reason
    assert "CUDA_VISIBLE_DEVICES cannot be set here" in reason


@pytest.mark.parametrize("name", ["", "1NCCL", "NCCL=DEBUG", "NCCL DEBUG", "NCCL\nDEBUG", "N" * 257])
def test_an_invalid_variable_name_is_refused(name: str) -> None:
    assert places({"fabrics": {"ib": {"env": {name: "1"}}}}) == [f"fabrics.ib.env.{name}.[key]"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert places({"pool": [], "pools": [{"name": "H100"}], "queues": [{}]}) == [
        "pools.0.name",
        "pools.0.nodeSelector",
        "queues.0.localQueue",
        "pool",
    ]


def test_a_configuration_cannot_be_changed_once_it_is_read() -> None:
    config = models.Config()

    with pytest.raises(pydantic.ValidationError):
        config.kind = "Config"


def test_a_pool_tells_what_its_nodes_have() -> None:
    pool = pools.Pool.model_validate(
        {
            **POOL,
            "gpu": {"board": "H100-80", "perNode": 8, "migStrategy": "mixed", "perNumaNode": 4},
            "allocatable": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": 8},
            "scalesFromZero": True,
            "maxNodes": 16,
        }
    )

    assert pool.scales
    assert not pools.Pool.model_validate(POOL).scales
    assert pools.Pool.model_validate({**POOL, "maxNodes": 4}).scales


@pytest.mark.parametrize(
    ("fields", "place", "reason"),
    [
        ({"allocatable": {"cpu": "many"}}, "pools.0.allocatable", "cpu: 'many' is not a quantity"),
        ({"allocatable": {"cpu": -1}}, "pools.0.allocatable", "cpu: -1 is negative"),
        ({"gpu": {"perNode": 0}}, "pools.0.gpu.perNode", "Input should be greater than or equal to 1"),
        ({"scalesFromZero": True, "maxNodes": 0}, "pools.0", "a pool that scales has room for one node"),
    ],
)
def test_what_no_node_can_have_is_refused(fields: dict[str, Any], place: str, reason: str) -> None:
    ((found, message),) = refusals({"pools": [{**POOL, **fields}]})

    assert found == place
    assert message.startswith(reason)


@pytest.mark.parametrize(
    ("pasted", "expected"),
    [
        ("nvidia.com/gpu=present:NoSchedule", ("nvidia.com/gpu", "present", "NoSchedule")),
        ("nvidia.com/gpu:NoExecute", ("nvidia.com/gpu", "", "NoExecute")),
        ("sku=gpu:PreferNoSchedule", ("sku", "gpu", "PreferNoSchedule")),
        ({"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}, ("a", "", "NoSchedule")),
    ],
)
def test_a_taint_may_be_pasted_from_a_node(pasted: object, expected: tuple[str, str, str]) -> None:
    taint = pools.Taint.model_validate(pasted)

    assert (taint.key, taint.value, taint.effect) == expected


@pytest.mark.parametrize("text", ["nvidia.com/gpu", "a=b=c:NoSchedule", ":NoSchedule", "a:Never", "a b:NoSchedule", ""])
def test_other_texts_are_not_taints(text: str) -> None:
    with pytest.raises(pydantic.ValidationError):
        pools.Taint.model_validate(text)


def test_every_field_is_described() -> None:
    schema = models.Config.model_json_schema(by_alias=True)
    sections = {"Config": schema, **schema["$defs"]}
    bare = {
        f"{name}.{field}"
        for name, section in sections.items()
        for field, content in section.get("properties", {}).items()
        if "description" not in content
    }

    assert bare == set()


def test_defaults_are_those_of_an_empty_file() -> None:
    """They are made without validators, which would say nothing about defaults."""
    assert models.Config.defaults() == models.Config.model_validate({})
    assert models.Config.defaults().model_dump_json() == models.Config().model_dump_json()
