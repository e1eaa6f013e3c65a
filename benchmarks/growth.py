"""Measures how the work of a review grows with each list of each kind, as instructions of the policy engine.

Both webhooks count. The counts are the same on every machine. The exponent is 1 if twice the entries take twice the
work, and 2 for the square. The table has the steepest lists that take more than a millisecond.
"""

import sections
from engine_work import FEW, MANY, CountingEngine, Growth, example, examples_of_every_kind, growth
from engine_work import places_of_different_fields as places

LEAST = 4_000_000
"""Instructions; a core takes a millisecond for them."""
SHOWN = 12
"""Lists in the table."""


def main() -> None:
    sections.publish("growth", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    engine = CountingEngine()
    kinds = sorted(examples_of_every_kind().items())
    found: list[tuple[str, str, Growth]] = []
    for kind, name in kinds:
        evaluator, value = example(name, engine)
        at = {"/".join(map(str, place)): place for place in places(value)}
        found += [(kind, text, growth(evaluator, engine, value, place)) for text, place in at.items()]
    costly = [each for each in found if each[2].many > LEAST]
    costly.sort(key=lambda each: each[2].exponent, reverse=True)
    return [
        f"| kind | list | instructions for {FEW} entries | for {MANY} | exponent |",
        "| --- | --- | ---: | ---: | ---: |",
        *(row(*each) for each in costly[:SHOWN]),
        "",
        f"{len(found)} lists of {len(kinds)} kinds; the steepest exponent is {costly[0][2].exponent:.2f}.",
    ]


def row(kind: str, place: str, found: Growth) -> str:
    numbers = f"{found.few / 1e6:.1f} M | {found.many / 1e6:.1f} M | {found.exponent:.2f}"
    return f"| {kind.removeprefix('/')} | `{place}` | {numbers} |"


if __name__ == "__main__":
    main()
