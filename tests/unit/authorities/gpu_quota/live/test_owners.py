"""Objects that are read in the middle of a review: what is scaled, and who is named as an owner."""

from collections.abc import Mapping

import pytest

from usher import errors, paths
from usher.authorities.gpu_quota.live import owners as live_owners
from usher.cluster.api import JSON, Answer

POD: paths.Object = {"metadata": {"namespace": "research"}}
JOB: paths.Object = {"kind": "Job", "metadata": {"name": "train", "namespace": "research", "uid": "1"}}


class OneAnswer:
    """An API server that gives the same answer to everything."""

    name = "test"

    def __init__(self, status: int, value: paths.Object) -> None:
        self._answer = Answer(status=status, value=value)
        self.asked: list[str] = []

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        del query, accept
        self.asked.append(path)
        return self._answer


def read(api: OneAnswer, *, name: str = "train", uid: paths.Json = "1") -> paths.Object | None:
    return live_owners.read(api, "jobs", group="batch", version="v1", of=POD, name=name, uid=uid)


def test_an_object_is_read_in_the_namespace_of_the_other() -> None:
    api = OneAnswer(200, JOB)

    assert read(api) == JOB
    assert api.asked == ["/apis/batch/v1/namespaces/research/jobs/train"]


def test_an_object_of_another_uid_is_another_one() -> None:
    assert read(OneAnswer(200, JOB), uid="2") is None
    assert read(OneAnswer(200, JOB), uid=None) == JOB


@pytest.mark.parametrize("status", [403, 404])
def test_what_is_not_there_or_may_not_be_read_answers_for_nothing(status: int) -> None:
    assert read(OneAnswer(status, {"message": "no"})) is None


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_while_the_api_server_cannot_say_what_is_there_nothing_is_decided(status: int) -> None:
    with pytest.raises(errors.ClusterError, match="jobs research/train cannot be read: busy"):
        read(OneAnswer(status, {"message": "busy"}))


def test_a_name_that_is_none_is_never_asked_for() -> None:
    api = OneAnswer(200, JOB)

    assert read(api, name="../secrets/token") is None
    assert api.asked == []
