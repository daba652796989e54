"""The promises of docs/reliability.md, one module each. scripts/promises runs them."""
