"""Workflow commands of GitHub: the runner reads what usher meant, and sees what it will not show."""

from hypothesis import given
from hypothesis import strategies as st

from unit.check.formats import hostile, made
from unit.check.formats.hostile import written
from unit.check.formats.runner import Command
from unit.check.formats.runner import github as read
from usher import model
from usher.check import findings
from usher.check.formats import annotations


@given(name=st.sampled_from(["error", "notice"]), message=st.text(), title=st.text(min_size=1))
def test_a_command_is_read_as_it_was_meant(name: str, message: str, title: str) -> None:
    commands, others = read(
        annotations.github_command(name, message.replace("##[", ""), title=title.replace("##[", "") + ".")
    )

    meant = Command(name=name, properties={"title": title.replace("##[", "") + "."}, data=message.replace("##[", ""))
    assert (commands, others) == ([meant], [])


@given(text=hostile.hostile_text)
def test_hostile_names_add_no_commands(text: str) -> None:
    commands, others = read(written(annotations.write_github, hostile.report(text)))

    assert [command.name for command in commands] == ["error"] * 3 + ["warning"] * 2
    assert len(others) == 1
    assert all(command.data.replace("\n", "").isprintable() for command in commands)


def test_an_annotation_has_its_place_its_check_and_its_remedy() -> None:
    commands, _ = read(written(annotations.write_github, made.made(made.result(made.finding(), source="a,b:c%.yaml"))))

    assert commands == [
        Command(
            name="error",
            properties={
                "file": "a,b:c%.yaml",
                "line": "41",
                "endLine": "41",
                "col": "35",
                "endColumn": "38",
                "title": "USH103 gpu-requests-equal-limits",
            },
            data="PyTorchJob ml-research/bert, Worker (8 pods): "
            "container pytorch of Worker: nvidia.com/gpu requests 8, limits 4\nSet both to the same number",
        )
    ]


def test_problems_and_failures_are_the_first_errors() -> None:
    commands, _ = read(written(annotations.write_github, made.full()))

    assert [(each.name, each.properties["title"]) for each in commands] == [
        ("error", "cannot be read"),
        ("error", "not judged"),
        ("error", "USH103 gpu-requests-equal-limits"),
        ("error", "USH103 gpu-requests-equal-limits"),
        ("warning", "USH301 gpu-toleration-present"),
        ("warning", "USH621 class-unknown"),
        ("warning", "unknown to usher"),
        ("notice", "USH901 team-label"),
    ]


def test_standard_input_and_objects_of_a_cluster_have_no_file() -> None:
    piped = made.made(made.result(made.finding(), source="<stdin>"))
    live = made.made(made.result(made.finding(at=None)), command=findings.Command.AUDIT, origin="https://prod")

    for found in (piped, live):
        (command,), _ = read(written(annotations.write_github, found))
        assert set(command.properties) == {"title"}
        assert command.data.splitlines()[1] in {
            "At <stdin>:41:35",
            'At spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits["nvidia.com/gpu"]',
        }


def test_what_github_would_not_show_is_in_the_log_and_a_notice_says_so() -> None:
    errors = [made.finding(f"error {number}") for number in range(13)]
    warnings = [made.finding(f"warning {number}", outcome=model.Outcome.WARN) for number in range(11)]
    notes = [made.finding(f"note {number}", outcome=model.Outcome.AUDIT) for number in range(11)]

    commands, others = read(written(annotations.write_github, made.made(made.result(*notes, *warnings, *errors))))

    names = [command.name for command in commands]
    assert [names.count(name) for name in ("error", "warning", "notice")] == [10, 10, 10]
    assert names[-3:] == ["notice", "group", "endgroup"]
    more = "3 more errors, 1 more warning and 2 more notes"
    assert commands[-3].data == f"GitHub shows 10 annotations of each level. {more} are in the log of this step."
    assert [line.partition(":")[0] for line in others[:-1]] == ["error"] * 3 + ["warning"] + ["note"] * 2


def test_the_log_ends_with_the_numbers_of_the_run() -> None:
    assert (
        written(annotations.write_github, made.made(made.result()))
        == "1 file, 1 workload, 72 GPUs: no errors, no warnings\n"
    )
