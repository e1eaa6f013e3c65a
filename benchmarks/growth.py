"""Measures how the work of a review grows with each list of each kind, as instructions of the policy engine.

Both webhooks count. The counts are the same on every machine. The exponent is 1 if twice the entries take twice the
work, and 2 for the square. The table has the steepest lists of each kind that take more than a millisecond.
"""

import sections
from engine_work import FEW, MANY, CountingEngine, Growth, example, examples_of_every_kind, growth
from engine_work import places_of_different_fields as places

LEAST = 4_000_000
"""Instructions; a core takes a millisecond for them."""
SHOWN = 2
"""Lists of each kind in the table."""


def main() -> None:
    sections.publish("growth", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    engine = CountingEngine()
    lines = [
        f"| kind | list | instructions for {FEW} entries | for {MANY} | exponent |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    steepest, number = 0.0, 0
    for kind, name in sorted(examples_of_every_kind().items()):
        evaluator, value = example(name, engine)
        found = {"/".join(map(str, place)): growth(evaluator, engine, value, place) for place in places(value)}
        number += len(found)
        costly = sorted(found.items(), key=lambda each: each[1].exponent, reverse=True)
        costly = [each for each in costly if each[1].many > LEAST]
        steepest = max([steepest, *(each.exponent for _, each in costly)])
        lines += [row(kind, place, each) for place, each in costly[:SHOWN]]
    return [
        *lines,
        "",
        f"{number} lists of {len(examples_of_every_kind())} kinds; the steepest exponent is {steepest:.2f}.",
    ]


def row(kind: str, place: str, found: Growth) -> str:
    numbers = f"{found.few / 1e6:.1f} M | {found.many / 1e6:.1f} M | {found.exponent:.2f}"
    return f"| {kind.removeprefix('/')} | `{place}` | {numbers} |"


if __name__ == "__main__":
    main()
