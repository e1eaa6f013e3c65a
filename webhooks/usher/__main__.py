"""`python -m usher` is the same as the command `usher`."""

from usher.cli.main import main

if __name__ == "__main__":
    main()
