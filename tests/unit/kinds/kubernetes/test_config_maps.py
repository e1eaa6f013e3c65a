"""The device plugin's configuration, as rules see it in a ConfigMap."""

from typing import Any

import pytest

from unit.workloads.normalised import workload

TIME_SLICES = """\
version: v1
flags:
  migStrategy: none
sharing:
  mps: null
  timeSlicing:
    renameByDefault: true
    resources:
    - name: nvidia.com/gpu
      replicas: 4
"""

READ = {
    "flags": {"migStrategy": "none"},
    "sharing": {
        "timeSlicing": {"renameByDefault": True, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]},
    },
}


def config_map(**data: Any) -> Any:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "device-plugin"}, "data": data}


def configurations(**data: Any) -> Any:
    found = workload(config_map(**data))
    assert found.unknowns == ()
    return found.view["configMap"].get("data")


def unknowns(**data: Any) -> list[tuple[str, str]]:
    return [(unknown.path, unknown.reason) for unknown in workload(config_map(**data)).unknowns]


def test_a_configuration_is_read_from_its_text() -> None:
    assert configurations(any=TIME_SLICES) == {"any": READ}


def test_one_in_json_is_read_too() -> None:
    text = '{"version": "v1", "sharing": {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}}}'
    assert configurations(any=text) == {
        "any": {"sharing": {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}}}
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "password: hunter2",
        "version: v1\nflags:\n  migStrategy: mixed\n",
        "On sharing: it is good.",
        "values:\n  sharing:\n    timeSlicing: {}\n",
        '{"sharing of": 1}',
        "sharing: null",
        "# sharing:\n---\n",
    ],
)
def test_nothing_else_is_kept(text: str) -> None:
    assert configurations(other=text, any=TIME_SLICES) == {"any": READ}


def test_a_configuration_with_a_wrong_type_is_unknown() -> None:
    text = TIME_SLICES.replace("replicas: 4", "replicas: four")
    assert unknowns(any=text, other=TIME_SLICES) == [
        ("/data/any", "in its sharing.timeSlicing.resources.0.replicas: Input should be a valid integer")
    ]


def test_a_text_that_begins_like_one_and_cannot_be_read_is_unknown() -> None:
    ((path, reason),) = unknowns(any="sharing:\n  timeSlicing: [\n")
    assert path == "/data/any"
    assert reason.startswith("looks like a configuration of the device plugin, but cannot be read: ")


def test_one_of_absurd_length_is_not_read() -> None:
    assert unknowns(any=TIME_SLICES + "#" * 65536) == [
        ("/data/any", "longer than 65536 characters, so it is not read as a configuration of the device plugin")
    ]


def test_data_that_are_not_texts_are_skipped() -> None:
    assert configurations(number=4, nothing=None, any=TIME_SLICES) == {"any": READ}
