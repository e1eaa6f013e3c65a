"""A gang is refused by exactly the quotas that would refuse one of its pods."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import GPU, resource_quota
from unit.authorities.resource_quota.judging import GPUS, judge
from usher import paths
from usher.authorities.verdict import Reach

AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", GPU]), st.sampled_from(["0", "1", "1500m", "3", "2Gi"]), max_size=3
)


@st.composite
def tasks(draw: st.DrawFn) -> paths.Object:
    init = draw(st.lists(AMOUNTS, max_size=2))
    main = draw(st.lists(AMOUNTS, min_size=1, max_size=2))
    containers = [builders.container(f"main-{index}", requests=each) for index, each in enumerate(main)]
    first = [builders.container(f"init-{index}", requests=each) for index, each in enumerate(init)]
    template = builders.template(*containers, initContainers=first or None)
    return builders.volcano_task(pod_template=template, replicas=draw(st.integers(0, 4)))


@given(
    st.lists(tasks(), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["pods", "requests.cpu", "memory", GPUS]), st.integers(0, 30), max_size=4),
    st.integers(0, 20),
)
def test_a_gang_is_refused_by_exactly_the_quotas_that_would_refuse_one_of_its_pods(
    listed: list[paths.Object], hard: dict[str, int], used: int
) -> None:
    """Against pods that are made one by one, as the quota controller sees them."""
    job = builders.volcano_job(*listed)
    keys = {key: str(amount) for key, amount in hard.items()}
    found = judge(job, resource_quota(keys, used=dict.fromkeys(keys, str(used)))).shortages
    counted = {each.resource: each.reach for each in found if each.reach is not Reach.LARGEST}

    expected = {}
    for key, amount in hard.items():
        if _refuses(listed, key, Fraction(amount)):
            expected[key] = Reach.START
        elif _refuses(listed, key, Fraction(amount) - used):
            expected[key] = Reach.NOW
    assert counted == expected


def _refuses(listed: list[paths.Object], key: str, left: Fraction) -> bool:
    name = key.removeprefix("requests.")
    for task in listed:
        spec = paths.resolve(task, "/template/spec")
        assert isinstance(spec, dict)
        takes = Fraction(1) if name == "pods" else _of_pod(spec, name)
        replicas = task["replicas"]
        assert isinstance(replicas, int)
        for _ in range(replicas):
            if not takes:
                continue
            if takes > left:
                return True
            left -= takes
    return False


def _of_pod(spec: paths.Object, name: str) -> Fraction:
    numbers = {"0": Fraction(0), "1": Fraction(1), "1500m": Fraction(3, 2), "3": Fraction(3), "2Gi": Fraction(2**31)}

    def of(field: str) -> list[Fraction]:
        listed = spec.get(field, [])
        assert isinstance(listed, list)
        found = []
        for each in listed:
            asked = each.get("resources", {}) if isinstance(each, dict) else {}
            requests = asked.get("requests", {}) if isinstance(asked, dict) else {}
            found.append(numbers[str(requests.get(name, "0"))] if isinstance(requests, dict) else Fraction(0))
        return found

    return max([sum(of("containers"), Fraction(0)), *of("initContainers")])
