"""Parts of the document are many, so they share what they have in common."""

from usher.audit.document import Subject


def subject(name: str) -> Subject:
    return Subject(api_version="v1", kind="Pod", namespace="ml", name=name)


def test_parts_with_the_same_fields_share_the_names_of_those() -> None:
    assert subject("a").model_fields_set is subject("b").model_fields_set


def test_a_copy_with_other_fields_changes_no_other_part() -> None:
    one, other = Subject(api_version="v1", kind="Pod", name="a"), Subject(api_version="v1", kind="Pod", name="b")

    assert one.model_copy(update={"namespace": "ml"}).model_fields_set == {"api_version", "kind", "name", "namespace"}
    assert other.model_fields_set == {"api_version", "kind", "name"}
