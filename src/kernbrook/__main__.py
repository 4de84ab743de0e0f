"""`python -m kernbrook`: the command line."""

from kernbrook.cli.main import run

if __name__ == "__main__":
    run()
