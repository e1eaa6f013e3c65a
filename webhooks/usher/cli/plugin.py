"""`kubectl usher`: kubectl starts the program `kubectl-usher` of the path."""

import sys
from typing import NoReturn

from usher.cli.main import main as usher


def main() -> NoReturn:
    """Runs `usher portal` with the arguments of the plugin."""
    usher(["portal", *sys.argv[1:]])
