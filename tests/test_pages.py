"""Pages of results are what the stored results make them."""

import json

import pytest
from beside import beside_the_tests, module_of

from kernbrook.reports.as_json import results_json, results_of


@pytest.fixture(scope="module")
def written():
    """The program that writes the pages."""
    return module_of("docs/write_results.py")


def test_the_pages_of_results_are_up_to_date(written):
    for path, text in written.pages().items():
        said = f"{path.name}: write it anew: python docs/write_results.py"
        assert path.read_text(encoding="utf-8") == text, said


def test_blocks_are_filled_and_the_rest_is_left(written):
    page = "before\n<!-- shootout, short -->\nold\n<!-- end -->\nafter\n"
    text = written.filled(page)
    assert text.startswith("before\n<!-- shootout, short -->\n| | elec2 |")
    assert text.endswith("|\n<!-- end -->\nafter\n")
    assert "old" not in text
    assert written.filled(text) == text


def test_stored_results_are_read_back_whole(written):
    assert written.stored()
    for name in written.stored():
        path = beside_the_tests(f"results/{name}.json")
        values = json.loads(path.read_text(encoding="utf-8"))
        assert results_json(results_of(values)) == values
        assert set(written.section(name).splitlines()) & {f"## {name}"}
