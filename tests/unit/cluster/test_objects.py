"""Single objects that are read during a review: what a request scales, and owners."""

from collections.abc import Mapping

import pytest

from usher import errors, paths
from usher.cluster import api as cluster_api
from usher.cluster.api import JSON, Answer, ObjectPath

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
    at = ObjectPath(group="batch", version="v1", plural="jobs", namespace="research", name=name)
    return cluster_api.read_object(api, at, uid=uid)


def test_an_object_is_read_at_its_path() -> None:
    api = OneAnswer(200, JOB)

    assert read(api) == JOB
    assert api.asked == ["/apis/batch/v1/namespaces/research/jobs/train"]


def test_an_object_with_another_uid_is_not_returned() -> None:
    assert read(OneAnswer(200, JOB), uid="2") is None
    assert read(OneAnswer(200, JOB), uid=None) == JOB


@pytest.mark.parametrize("status", [403, 404])
def test_a_missing_or_forbidden_object_reads_as_null(status: int) -> None:
    assert read(OneAnswer(status, {"message": "no"})) is None


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_an_api_server_that_cannot_answer_is_an_error(status: int) -> None:
    with pytest.raises(errors.ClusterError, match="jobs research/train cannot be read: busy"):
        read(OneAnswer(status, {"message": "busy"}))


def test_a_name_that_is_a_path_is_not_requested() -> None:
    api = OneAnswer(200, JOB)

    assert read(api, name="../secrets/token") is None
    assert api.asked == []
