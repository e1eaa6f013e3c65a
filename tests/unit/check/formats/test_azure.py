"""Logging commands of Azure Pipelines: the agent reads what usher meant."""

from hypothesis import given
from hypothesis import strategies as st

from unit.check.formats import hostile, made
from unit.check.formats.hostile import written
from unit.check.formats.runner import Command
from unit.check.formats.runner import azure as read
from usher import model
from usher.check import findings
from usher.check.formats import annotations


@given(message=st.text(), value=st.text(min_size=1))
def test_a_command_is_read_as_it_was_meant(message: str, value: str) -> None:
    message, value = message.replace("##", ""), value.replace("##", "") + "."

    commands, others = read(annotations.azure_command("task.logissue", message, sourcepath=value))

    assert (commands, others) == ([Command(name="task.logissue", properties={"sourcepath": value}, data=message)], [])


@given(text=hostile.hostile_text)
def test_hostile_names_add_no_commands(text: str) -> None:
    commands, others = read(written(annotations.write_azure, hostile.report(text)))

    assert [(each.name, each.properties["type"]) for each in commands] == [
        ("task.logissue", level) for level in ["error"] * 3 + ["warning"] * 2
    ]
    assert len(others) == 1


def test_an_issue_has_its_place_and_its_check() -> None:
    commands, _ = read(written(annotations.write_azure, made.made(made.result(made.finding(), source="a;b]%.yaml"))))

    assert commands == [
        Command(
            name="task.logissue",
            properties={
                "type": "error",
                "sourcepath": "a;b]%.yaml",
                "linenumber": "41",
                "columnnumber": "35",
                "code": "USH103",
            },
            data="USH103 gpu-requests-equal-limits: PyTorchJob ml-research/bert, Worker (8 pods): "
            "container pytorch of Worker: nvidia.com/gpu requests 8, limits 4. Set both to the same number",
        )
    ]


def test_notes_and_what_azure_would_not_show_are_lines_of_the_log() -> None:
    errors = [made.finding(f"error {number}") for number in range(12)]
    notes = [made.finding(f"note {number}", outcome=model.Outcome.AUDIT) for number in range(12)]

    commands, others = read(written(annotations.write_azure, made.made(made.result(*notes, *errors))))

    assert len(commands) == 10
    assert others[0] == "Azure Pipelines shows 10 issues of each level. 2 more errors follow here."
    assert [line.partition(":")[0] for line in others[1:-1]] == ["error"] * 2 + ["note"] * 12


def test_an_object_of_a_cluster_has_no_source_path() -> None:
    live = made.made(made.result(made.finding(at=None)), command=findings.Command.AUDIT, origin="https://prod")

    (command,), _ = read(written(annotations.write_azure, live))
    assert set(command.properties) == {"type", "code"}
