"""The tables of kinds say what they have always said."""

import json

from unit.kinds import recorded


def test_every_kind_matches_its_record() -> None:
    assert recorded.document() == json.loads(recorded.FILE.read_text(encoding="utf-8"))
