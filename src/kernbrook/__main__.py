"""`python -m kernbrook`: the command line."""

from .cli.main import run

if __name__ == "__main__":
    run()
