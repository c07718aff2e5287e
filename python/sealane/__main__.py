"""`python -m sealane` is the `sealane` command."""

from sealane._cli import main

main()
