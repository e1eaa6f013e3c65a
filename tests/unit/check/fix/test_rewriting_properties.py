"""Whatever the text and the change: the new text says what was wanted, or it is the old one and has a reason."""

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import generated_examples
from unit.check.fix.changes import changed
from unit.check.fix.written import KEYS, streams, values
from usher import errors
from usher.check.fix import rewriting, syntax
from usher.documents import reader

_UNPROVEN = "so that the text says exactly that"


@given(stream=streams(), data=st.data())
@settings(max_examples=generated_examples.up_to(200), suppress_health_check=list(HealthCheck))
def test_the_new_text_says_what_was_wanted_or_stays_as_it_was(
    stream: tuple[bytes, list[Any]], data: st.DataObject
) -> None:
    content, _ = stream
    try:
        documents = reader.parse(content, source="x.yaml")
    except errors.ManifestError:
        assume(False)
    assume(bool(documents))
    number = data.draw(st.integers(0, len(documents) - 1))
    wanted = data.draw(changed(documents[number].value))

    done = rewriting.rewrite(content, documents, {number: wanted})

    found = reader.parse(done.content, source="x.yaml")
    reasons = [each.reason for each in done.refusals.get(number, ())]
    expected = documents[number].value if reasons else wanted
    assert syntax.is_same_value(found[number].value, expected)
    assert not any(_UNPROVEN in reason for reason in reasons), (content.decode(), wanted)
    for old, new in zip(documents, found, strict=True):
        if old.index != number:
            assert new.chunk.text == old.chunk.text
    assert done.content.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")
    assert done.content.endswith(b"\n") == content.endswith(b"\n")


@given(value=st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=5), data=st.data())
@settings(max_examples=generated_examples.up_to(100), suppress_health_check=list(HealthCheck))
def test_json_says_what_was_wanted_in_the_layout_that_it_had(value: dict[str, Any], data: st.DataObject) -> None:
    indent = data.draw(st.sampled_from([None, 2, 4]))
    content = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans())).encode()
    documents = reader.parse(content, source="x.json")
    wanted = data.draw(changed(documents[0].value))

    done = rewriting.rewrite(content, documents, {0: wanted})

    reasons = [each.reason for each in done.refusals.get(0, ())]
    assert not any(_UNPROVEN in reason for reason in reasons)
    assert json.loads(done.content) == (value if reasons else wanted)
    assert b"\n" in content or b"\n" not in done.content
