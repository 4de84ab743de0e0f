"""What the suite runs on is compiled once; tests are marked as slow, or as readers of data."""

import gc
import importlib
import os

import hard_streams
import pytest
from thinned import is_left_out

# What takes longest, and whose kind is tested beside it: run by `pytest -n 2`, which is all, and
# left out by `-m "not long"`.
LONG = {
    "test_a_benchmark_on_few_rows", "test_a_curve_ends_as_a_run_of_that_length_does",
    "test_a_full_disk_keeps_the_last_checkpoint", "test_a_person_at_a_terminal",
    "test_a_short_list_and_all", "test_a_worker_killed_in_mid_run_costs_no_result",
    "test_before_any_line_of_one_row", "test_both_forms_are_kept_on_disk",
    "test_a_kill_while_predicting_leaves_no_half_file", "test_labels_on_a_terminal",
    "test_progress_on_a_terminal",
    "test_a_training_that_was_killed_ends_in_the_same_bytes", "test_another_process_answers",
    "test_cells_are_means_over_the_draws", "test_checks_of_every_recipe",
    "test_commands_in_blocks_run_as_they_are_written",
    "test_code_beside_a_kernel_goes_with_a_change_elsewhere", "test_drawn_data_cut_short",
    "test_errors_and_sparsity_come_out_as_printed", "test_killed_and_gone_on_with",
    "test_killed_at_eight_moments",
    "test_memory_does_not_grow_with_the_rows", "test_memory_is_constant", "test_memory",
    "test_a_program_mends_a_damaged_cache", "test_numbers_may_be_given_for_numbers",
    "test_one_kernel_at_the_steps_and_widths_that_were_found", "test_outputs_that_take_no_more",
    "test_raker_beside_what_is_printed", "test_results_do_not_depend_on_jobs_and_are_plain",
    "test_rows_are_written_for_the_peers",
    "test_stopped_by_hand", "test_the_page_on_clusters", "test_what_is_compiled_is_said_once",
    "test_the_cache_on_disk_serves_who_cannot_import_them",
    "test_the_defaults_pass_too", "test_the_script_from_end_to_end", "test_with_keys_alone",
}  # fmt: skip


@pytest.hookimpl(tryfirst=True)  # before the processes start
def pytest_sessionstart(session):
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        return
    # Each process has a core: where libraries start threads besides, they wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from kernbrook.compiler.disk_cache import is_cold

    if is_cold():
        from kernbrook import recipes
        from kernbrook.evaluation.ahead import compile_ahead

        print("compiling what the tests run on, once")
        compile_ahead(recipes.names(), 2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: no garbage is looked for in it, now or while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may be missing
def pytest_xdist_make_scheduler(config, log):
    """A file's tests go to one process: it alone compiles, loads and keeps what they share."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling

    # As collected: a file of few tests that take long would else come last, beside an idle process.
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


def pytest_itemcollected(item):
    """Tables of papers and kills of processes are marked here, everything else beside the test."""
    printed = item.path.parent.name == "papers"
    if printed or "kill" in item.name:
        item.add_marker("slow")
    if is_left_out(item):
        item.add_marker("long")
    if getattr(item, "originalname", None) in LONG:
        item.add_marker("slow")
        item.add_marker("long")
    if printed or "data_folder" in getattr(item, "fixturenames", ()):
        item.add_marker("data")


@pytest.fixture(scope="session", autouse=True)
def _no_power_is_lost():
    """Nobody waits for the disk: what a killed process has written is there all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def few_samples(monkeypatch):
    """Runs are looked at ten times, not a hundred: quicker, and with the same results."""
    module = importlib.import_module("kernbrook.evaluation.prequential")
    monkeypatch.setattr(module, "SAMPLES", 10)


def pytest_runtest_setup(item):
    hard_streams.READS_DATA = item.get_closest_marker("data") is not None
