"""The base of all parts of the document: frozen, with camelCase names in JSON."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Part(BaseModel):
    """A JSON object. Unknown fields are left out, because a later usher may add some."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="ignore"
    )
