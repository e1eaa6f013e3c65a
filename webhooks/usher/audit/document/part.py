"""The base of all parts of the document: frozen, with camelCase names in JSON."""

from typing import Final

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

_GIVEN: Final[dict[frozenset[str], set[str]]] = {}


class Part(BaseModel):
    """A JSON object. Unknown fields are left out, because a later usher may add some."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="ignore"
    )

    def model_post_init(self, _context: object) -> None:
        """Shares the names of the fields that were given: a set for each finding takes more memory than its texts."""
        given = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _GIVEN.setdefault(frozenset(given), given))
