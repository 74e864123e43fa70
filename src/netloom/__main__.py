"""``python -m netloom``: the command line."""

from netloom.cli import main

if __name__ == "__main__":
    main()
