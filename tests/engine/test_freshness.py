"""Compiled code on disk goes when any source of the package changes."""

from kernbrook._jit.freshness import STAMP, discard_stale


def test_a_changed_source_empties_this_packages_cache(tmp_path):
    sources, cache = tmp_path / "sources", tmp_path / "cache"
    sources.mkdir()
    (sources / "sums.py").write_text("one")
    assert discard_stale(cache, sources)
    kept, gone = cache / "other.f-1.py311.nbi", cache / "sums.add-1.py311.nbi"
    for file in (kept, gone):
        file.write_text("compiled")
    assert not discard_stale(cache, sources)
    assert gone.exists()
    (sources / "sums.py").write_text("two")
    assert discard_stale(cache, sources)
    assert not gone.exists()
    assert kept.exists()
    assert (cache / STAMP).exists()


def test_a_cache_that_cannot_be_written_is_left_alone(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert discard_stale(blocked / "cache", tmp_path)
