"""`python -m sealane` is the `sealane` command."""

from sealane._cli import main

if __name__ == "__main__":
    main()
