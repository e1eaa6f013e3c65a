"""Patterns of usher.yaml in which `*` stands for any characters, for images and commands.

Matching takes one search for each part between two `*`, so no pattern and no text can make it slow.
"""

from functools import lru_cache


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.split("*"))


def fits(text: str, pattern: str) -> bool:
    """Whether a pattern matches a whole text; every character but `*` stands for itself."""
    first, *rest = _parts(pattern)
    if not rest:
        return text == first
    *between, last = rest
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    start, end = len(first), len(text) - len(last)
    for part in between:
        found = text.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return True


def image_fits(image: str, pattern: str) -> bool:
    """Whether a pattern matches an image, or the end of its path after a slash.

    A pattern without a colon matches every tag and digest: `vllm/vllm-*` matches
    `registry.example.com/mirror/vllm/vllm-openai:v0.10.0`.
    """
    name = image if ":" in pattern or "@" in pattern else without_tag(image)
    return fits(name, pattern) or fits(name, f"*/{pattern}")


def without_tag(image: str) -> str:
    """The name of an image without its tag and digest."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return head + slash + last.partition(":")[0]


def command_fits(words: tuple[str, ...], pattern: str) -> bool:
    """Whether the words of a pattern match the first words of a command, one by one, whatever their case.

    A word without a slash matches the last part of a path: `torchrun` matches `/usr/local/bin/torchrun`.
    """
    wanted = _words(pattern)
    return len(wanted) <= len(words) and all(map(_word_fits, words, wanted))


@lru_cache(maxsize=4096)
def _words(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.lower().split())


def _word_fits(word: str, pattern: str) -> bool:
    word = word.lower()
    return fits(word if "/" in pattern else word.rpartition("/")[2], pattern)
