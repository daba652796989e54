"""The promises of docs/reliability.md, each shown by a module of its own. scripts/promises runs them."""
