"""`sprintf` of usher beside that of OPA, for many formats and values."""

import json
import random
import subprocess
from pathlib import Path

import opa_server
from usher.policy.engines import host_functions, rego_values

pytestmark = opa_server.needs_opa

TEXTS = ('"a"', '""', r'"h\u00e9\n\"x\" \u200b \u0007"')
NUMBERS = (
    *("5", "-3", "0", "1.5", "100000.0", "1000000.0", "123456789.25", "0.00001", "1e21", "1e3", "-0.5", "2.0", "1e-7"),
    *("0.1", "9223372036854775807"),
)
OTHERS = (
    *("true", "null", '[1,"a",null]', '{"b":1,"a":[2]}', '{1,"x",{"k":true}}', "set()", "{}", "[]"),
    *('{[1],[0,5],{"z"}}', '{2:"x","a":1}'),
)
VALUES = (*TEXTS, *NUMBERS, *OTHERS)
FLAGS = ("", "-", "+", "0", " ", "05", "8", "-8", ".2", "8.3", "+.1", "08", "08.2", ".0", ".", "-05")
VERBS = "vsdqxXobfFeEgGtT%"


def questions(number: int) -> list[tuple[str, str]]:
    """Formats with too few, enough and too many arguments, the same in every run."""
    chosen = random.Random(20261123)
    found = []
    for _ in range(number):
        count = chosen.randint(1, 3)
        verbs = [f"%{chosen.choice(FLAGS)}{chosen.choice(VERBS)}" for _ in range(count)]
        values = [chosen.choice(VALUES) for _ in range(chosen.randint(max(0, count - 1), count + 1))]
        found.append((" <".join(verbs) + chosen.choice(["", "%", "%%", ">"]), f"[{','.join(values)}]"))
    return found


def test_the_text_is_that_of_opa(tmp_path: Path) -> None:
    asked = questions(1500)
    rules = [f"answers[{n}] := sprintf({json.dumps(form)}, {values})" for n, (form, values) in enumerate(asked)]
    policy = tmp_path / "ask.rego"
    policy.write_text("\n".join(["package ask", "import rego.v1", *rules]))
    done = subprocess.run(
        [opa_server.OPA, "eval", "--data", policy, "data.ask.answers"], capture_output=True, check=True
    )
    answers = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]

    wrong, unknown = [], 0
    for number, (form, values) in enumerate(asked):
        try:
            text = host_functions.sprintf(form, rego_values.parse_value(values))
        except NotImplementedError:
            unknown += 1
            continue
        if text != answers[str(number)]:
            wrong.append((form, values, text, answers[str(number)]))

    assert wrong == []
    assert unknown < len(asked) / 4
