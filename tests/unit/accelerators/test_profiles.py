"""A MIG profile is known by each of its names, and by nothing else."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from usher.accelerators import mig
from usher.accelerators.mig import Profile, Variant

SPELLINGS = [
    ("1g.10gb", "nvidia.com/mig-1g.10gb", Profile(slices=1, gigabytes=10)),
    ("7g.141gb", "nvidia.com/mig-7g.141gb", Profile(slices=7, gigabytes=141)),
    ("1g.10gb+me", "nvidia.com/mig-1g.10gb.me", Profile(slices=1, gigabytes=10, variant=Variant.MEDIA)),
    ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all", Profile(slices=1, gigabytes=24, variant=Variant.ALL_MEDIA)),
    ("2g.48gb-me", "nvidia.com/mig-2g.48gb-me", Profile(slices=2, gigabytes=48, variant=Variant.NO_MEDIA)),
    ("4g.96gb+gfx", "nvidia.com/mig-4g.96gb.gfx", Profile(slices=4, gigabytes=96, variant=Variant.GRAPHICS)),
]

any_profile = st.builds(
    Profile, slices=st.integers(1, 8), gigabytes=st.integers(0, 9999), variant=st.sampled_from(Variant)
)


@pytest.mark.parametrize(("name", "resource", "profile"), SPELLINGS)
def test_a_profile_is_one_and_the_same_as_name_label_and_resource(name: str, resource: str, profile: Profile) -> None:
    assert mig.parse_profile(name) == profile
    assert mig.parse_profile(name.replace("+", ".")) == profile
    assert mig.profile_of_resource(resource) == mig.Advertised(profile=profile, shared=False)


@pytest.mark.parametrize(("name", "resource", "profile"), SPELLINGS)
def test_a_profile_is_written_as_the_driver_and_the_device_plugin_write_it(
    name: str, resource: str, profile: Profile
) -> None:
    assert str(profile) == name
    assert profile.resource == resource


@pytest.mark.parametrize(("name", "resource", "profile"), SPELLINGS)
def test_a_shared_resource_is_a_turn_on_an_instance(name: str, resource: str, profile: Profile) -> None:
    assert mig.profile_of_resource(resource + ".shared") == mig.Advertised(profile=profile, shared=True)
    assert mig.parse_profile(name + ".shared") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1g",
        "10gb",
        "1g10gb",
        "1g.10",
        "g.10gb",
        "1g.gb",
        "0g.10gb",
        "9g.10gb",
        "10g.10gb",
        "01g.10gb",
        "1g.010gb",
        "1g.10000gb",
        "1g.-5gb",
        "1g.1.5gb",
        "1G.10GB",
        "1g.10gi",
        " 1g.10gb",
        "1g.10gb ",
        "1g.10gb\n",
        "1g.\uff11\uff10gb",
        "1g.10gb+",
        "1g.10gb+ME",
        "1g.10gb+me+gfx",
        "1g.10gb-gfx",
        "1g.10gb-me.all",
        "1g.10gb.me.shared",
        "1g.10gb.count",
        "mig-1g.10gb",
        "nvidia.com/mig-1g.10gb",
        "1c.3g.20gb",
        "all-1g.10gb",
        "1" * 10_000 + "g.10gb",
    ],
)
def test_other_texts_are_not_profiles(text: str) -> None:
    assert mig.parse_profile(text) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1g.10gb",
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
        "nvidia.com/mig-",
        "nvidia.com/mig-1g.10gb+me",
        "nvidia.com/mig-1g.10gb.shared.shared",
        "nvidia.com/mig-1g.10gb.shared.me",
        "nvidia.com/mig-1g.10gb.count",
        "nvidia.com/mig-1g.10gb\n",
        "requests.nvidia.com/mig-1g.10gb",
        "amd.com/mig-1g.10gb",
        "nvidia.com/mig-1c.3g.20gb",
        "nvidia.com/mig-" + "9" * 10_000 + "g.10gb",
    ],
)
def test_other_resources_have_no_profile(name: str) -> None:
    assert mig.profile_of_resource(name) is None


def test_a_jetson_has_profiles_without_memory_of_their_own() -> None:
    assert mig.parse_profile("1g.0gb+me") == Profile(slices=1, gigabytes=0, variant=Variant.MEDIA)


@pytest.mark.parametrize("prefix", ["", "nvidia.com/mig-"])
def test_a_compute_instance_is_known_for_what_it_is(prefix: str) -> None:
    found = mig.compute_instance(prefix + "1c.3g.20gb")
    assert found == mig.ComputeInstance(slices=1, profile=Profile(slices=3, gigabytes=20))


@pytest.mark.parametrize("text", ["3g.20gb", "3c.3g.20gb", "4c.3g.20gb", "0c.3g.20gb", "1c.20gb", "1c.1c.3g.20gb"])
def test_other_texts_are_not_compute_instances(text: str) -> None:
    assert mig.compute_instance(text) is None


@given(any_profile)
def test_every_profile_is_read_back_from_its_names(profile: Profile) -> None:
    assert mig.parse_profile(str(profile)) == profile
    assert mig.profile_of_resource(profile.resource) == mig.Advertised(profile=profile, shared=False)
    assert mig.profile_of_resource(profile.resource + ".shared") == mig.Advertised(profile=profile, shared=True)


@given(st.text(alphabet="123cg.gb+-mealfx0 \n", max_size=20))
@example("1g.10gb+me.all")
def test_whatever_is_read_is_written_back(text: str) -> None:
    profile = mig.parse_profile(text)
    assert profile is None or str(profile) in {text, text.replace("gb.", "gb+")}
