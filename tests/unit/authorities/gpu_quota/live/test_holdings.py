"""Who answers for what exists."""

from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.entries import Entry
from usher.authorities.gpu_quota.ledger import Holding
from usher.authorities.gpu_quota.live.holdings import Held, Holdings

G = 10**9


def gpus(number: int) -> ByClasses:
    return {("",): {"gpus": number * G}}


def held(name: str, number: int, *, kind: str = "Job", owner: str = "", finished: bool = False) -> Held:
    """An object whose uid is its name."""
    group = "" if kind == "Pod" else "batch"
    return Held(
        owner=owner,
        holding=Holding(
            uid=name,
            group=group,
            kind=kind,
            namespace="ml",
            name=name,
            charge=gpus(number) if number else {},
            finished=finished,
        ),
    )


def pod(name: str, number: int, *, owner: str, finished: bool = False) -> Held:
    return held(name, number, kind="Pod", owner=owner, finished=finished)


def holdings(*everything: Held) -> Holdings:
    made = Holdings()
    for each in everything:
        made.put(each)
    return made


def roots(of: Holdings) -> dict[str, int]:
    """GPUs of all roots, by name."""
    return {root.name: sum(units.get("gpus", 0) for units in root.charge.values()) // G for root in of.roots()}


def test_a_workload_covers_its_pods() -> None:
    assert roots(holdings(held("train", 16), pod("a", 8, owner="train"), pod("b", 8, owner="train"))) == {"train": 16}


def test_the_topmost_charged_owner_covers() -> None:
    chain = holdings(held("service", 0), held("deployment", 4, owner="service"), held("set", 4, owner="deployment"))
    chain.put(pod("a", 4, owner="set"))

    assert roots(chain) == {"service": 0, "deployment": 4}


def test_a_pod_whose_owner_does_not_exist_is_charged_itself() -> None:
    assert roots(holdings(pod("stray", 8, owner="nobody"))) == {"stray": 8}


def test_pods_beyond_what_their_owner_is_charged_are_charged_to_it() -> None:
    forged = holdings(held("train", 8), pod("a", 8, owner="train"), pod("b", 8, owner="train"))

    assert roots(forged) == {"train": 16}


def test_a_workload_has_room_for_its_pods_and_no_more() -> None:
    made = holdings(held("train", 16), pod("a", 8, owner="train"))
    root = made.charged_owner("train", "ml")
    assert root is not None

    assert made.has_room(root, gpus(8))
    made.put(pod("b", 8, owner="train"))
    assert not made.has_room(root, gpus(8))
    made.put(pod("b", 8, owner="train", finished=True))
    assert made.has_room(root, gpus(8))


def test_owners_in_a_circle_are_charged_themselves() -> None:
    circle = holdings(held("a", 1, owner="b"), held("b", 1, owner="a"), held("c", 1, owner="c"))

    assert roots(circle) == {"a": 1, "b": 1, "c": 1}


def test_a_deleted_workload_covers_its_pods_until_they_are_gone() -> None:
    made = holdings(held("train", 16), pod("a", 8, owner="train"), pod("b", 8, owner="train"))
    entry = Entry(group="batch", kind="Job", namespace="ml", name="train", amounts=gpus(16), reserved_until=None)

    made.remove("train")
    assert roots(made) == {"train": 16}
    made.remove("a")
    left = made.remaining(entry)
    assert left is not None
    assert left.charge == gpus(8)
    made.remove("b")
    assert roots(made) == {}
    assert made.remaining(entry) is None


def test_a_deleted_owner_in_between_is_forgotten_with_the_last_pod() -> None:
    made = holdings(held("deployment", 8), held("set", 8, owner="deployment"), pod("a", 8, owner="set"))
    made.remove("deployment")
    made.remove("set")
    assert roots(made) == {"deployment": 8}

    made.remove("a")
    assert len(made) == 0


def test_removing_an_unknown_object_changes_nothing() -> None:
    made = holdings(held("train", 8))
    before = made.revision
    made.remove("other")

    assert made.revision == before


def test_pods_that_have_ended_hold_nothing_for_a_workload_that_is_deleted() -> None:
    """Whoever deletes a Job and orphans its pods leaves them there for ever."""
    made = holdings(held("train", 8), pod("a", 8, owner="train"))
    made.remove("train")
    made.put(pod("a", 8, owner="train", finished=True))

    assert roots(made) == {"a": 8}
    assert [root.finished for root in made.roots()] == [True]


def test_clear_forgets_all_objects() -> None:
    made = holdings(held("train", 8), pod("a", 8, owner="train"))
    made.clear()

    assert len(made) == 0
    assert made.roots() == []
