"""What lies beside the tests in the project, and is not there with an installed package."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def beside_the_tests(name):
    """The path of a file or folder; the test is skipped where it is missing."""
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not beside the tests")
    return ROOT / name


def module_of(name):
    """A program as a module."""
    path = beside_the_tests(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
