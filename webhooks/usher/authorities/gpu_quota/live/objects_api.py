"""The API server requests that charging needs: to read, write, create and delete single objects."""

from typing import Protocol

from usher import paths
from usher.cluster.api import Answer, Lists


class Api(Lists, Protocol):
    """An API with write access. Each method raises ClusterError without an answer."""

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT request, with any status."""
        ...

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST request, with any status."""
        ...

    def delete(self, path: str, value: paths.Object) -> Answer:
        """The answer to a DELETE request with DeleteOptions, with any status."""
        ...
