"""Patterns for images and commands: what they match, and that nothing makes them slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.config import selection


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("vllm", "vllm"),
        ("vllm-openai", "vllm*"),
        ("vllm-openai", "*openai"),
        ("vllm-openai", "*llm*open*"),
        ("", "*"),
        ("a[b]?c", "a[b]?c"),
        ("aXbXc", "a*b*c"),
    ],
)
def test_a_star_stands_for_any_characters_and_all_others_for_themselves(text: str, pattern: str) -> None:
    assert selection.glob_fits(text, pattern)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [("vllm", "vllm-*"), ("vllm", "v"), ("ab", "ab*b"), ("abc", "a?c"), ("abc", "*a*c*b*"), ("x", "")],
)
def test_what_differs_in_any_other_character_does_not_match(text: str, pattern: str) -> None:
    assert not selection.glob_fits(text, pattern)


@given(text=st.text(alphabet="ab", max_size=12), parts=st.lists(st.text(alphabet="ab", max_size=3), max_size=5))
def test_a_pattern_matches_what_a_regular_expression_would(text: str, parts: list[str]) -> None:
    import re

    expected = re.fullmatch(".*".join(map(re.escape, parts)), text) is not None

    assert selection.glob_fits(text, "*".join(parts)) is expected


def test_a_hostile_text_takes_no_time() -> None:
    assert not selection.glob_fits("a" * 100_000, "*a*a*a*a*a*a*b")


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai",
        "vllm/vllm-openai:v0.10.0",
        "docker.io/vllm/vllm-openai@sha256:0123",
        "registry.example.com:5000/mirror/vllm/vllm-openai:v1",
    ],
)
def test_an_image_matches_by_the_end_of_its_path_whatever_its_registry_and_tag(image: str) -> None:
    assert selection.image_fits(image, "vllm/vllm-*")


def test_a_part_of_a_name_is_another_image() -> None:
    assert not selection.image_fits("example.com/myvllm/vllm-openai", "vllm/vllm-openai")
    assert not selection.image_fits("example.com/vllm", "vllm/vllm-openai")


def test_a_pattern_with_a_colon_asks_for_a_tag() -> None:
    pattern = "tensorflow/tensorflow:*jupyter*"

    assert selection.image_fits("docker.io/tensorflow/tensorflow:2.13.0-gpu-jupyter", pattern)
    assert not selection.image_fits("docker.io/tensorflow/tensorflow:2.13.0-gpu", pattern)


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (("torchrun", "--nnodes=2", "train.py"), "torchrun"),
        (("/opt/venv/bin/torchrun", "train.py"), "torchrun"),
        (("python", "-m", "vllm.entrypoints.openai.api_server"), "python -m vllm.entrypoints.*"),
        (("python", "/work/Gemma3LLMTrain.py"), "python *train*.py"),
        (("/opt/nim/start_server.sh",), "/opt/nim/start_server.sh"),
    ],
)
def test_a_command_matches_by_its_first_words(words: tuple[str, ...], pattern: str) -> None:
    assert selection.command_fits(words, pattern)


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (("python", "serve.py", "train.py"), "python *train*.py"),
        (("python", "/training/serve.py"), "python *train*.py"),
        (("vllm",), "vllm serve"),
        (("echo", "torchrun"), "torchrun"),
    ],
)
def test_a_star_never_stands_for_another_word_or_folder(words: tuple[str, ...], pattern: str) -> None:
    assert not selection.command_fits(words, pattern)
