"""``python -m steguard``."""

from steguard.cli import main

main()
