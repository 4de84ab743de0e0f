"""What the suite runs on is compiled once; tests are marked as slow, or as readers of data."""

import gc
import os
from zlib import crc32

import hard_streams
import pytest

# What takes longest, and whose kind is tested beside it: run by `pytest -n 2`, which is all, and
# left out by `-m "not long"`.
LONG = {
    "test_a_benchmark_on_few_rows", "test_a_curve_ends_as_a_run_of_that_length_does",
    "test_a_full_disk_keeps_the_last_checkpoint", "test_a_person_at_a_terminal",
    "test_before_any_line_of_one_row", "test_both_forms_are_kept_on_disk",
    "test_a_kill_while_predicting_leaves_no_half_file", "test_labels_on_a_terminal",
    "test_progress_on_a_terminal",
    "test_a_training_that_was_killed_ends_in_the_same_bytes", "test_another_process_answers",
    "test_cells_are_means_over_the_draws", "test_checks_of_every_recipe",
    "test_commands_in_blocks_run_as_they_are_written",
    "test_code_beside_a_kernel_goes_with_a_change_elsewhere", "test_drawn_data_cut_short",
    "test_errors_and_sparsity_come_out_as_printed", "test_killed_and_gone_on_with",
    "test_memory_does_not_grow_with_the_rows", "test_memory_is_constant", "test_memory",
    "test_a_program_mends_a_damaged_cache", "test_numbers_may_be_given_for_numbers",
    "test_one_kernel_at_the_steps_and_widths_that_were_found", "test_outputs_that_take_no_more",
    "test_raker_beside_what_is_printed",
    "test_stopped_by_hand", "test_the_page_on_clusters", "test_what_is_compiled_is_said_once",
    "test_the_cache_on_disk_serves_who_cannot_import_them",
    "test_the_defaults_pass_too", "test_the_script_from_end_to_end", "test_with_keys_alone",
}  # fmt: skip

# What has dozens of cases that take long, each of them some choices together. `-m "not long"` runs
# those with a choice that none before has, and a third of the others. All: `pytest -n 2`.
THINNED = {
    ("engine/test_budget.py", "test_hard_streams"),
    ("engine/test_features_pass.py", "test_classes_of_real_streams"),
    ("engine/test_features_pass.py", "test_combiners_of_classes"),
    ("engine/test_features_pass.py", "test_combiners_of_numbers"),
    ("engine/test_features_pass.py", "test_numbers"),
    ("engine/test_gradient.py", "test_hard_streams"),
    ("engine/test_multiclass.py", "test_against_the_twin"),
    ("engine/test_multiclass.py", "test_chunks_and_sparsity"),
    ("engine/test_multiclass.py", "test_perceptrons_on_hard_streams"),
    ("engine/test_multiclass.py", "test_the_budget_is_never_exceeded"),
    ("engine/test_passive_aggressive.py", "test_chunks_and_sparsity"),
    ("engine/test_passive_aggressive.py", "test_twins_on_hard_streams"),
    ("engine/test_pegasos.py", "test_chunks_and_sparsity"),
    ("engine/test_pegasos.py", "test_hard_streams"),
    ("engine/test_policies.py", "test_classes_against_the_twin"),
    ("engine/test_policies.py", "test_rows_that_are_stored_are_not_judged"),
    ("engine/test_projecting.py", "test_every_step_of_hard_streams"),
    ("engine/test_windows.py", "test_windows_of_any_size"),
    ("estimators/test_go_on_alike.py", "test_every_combiner"),
    ("estimators/test_go_on_alike.py", "test_every_learner"),
    ("estimators/test_go_on_alike.py", "test_numbers"),
}
MET = set()  # choices of the tests that are thinned, so far


@pytest.hookimpl(tryfirst=True)  # before the processes start
def pytest_sessionstart(session):
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        return
    # Each process has a core: where libraries start threads besides, they wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from kernbrook.numerics.freshness import is_cold

    if is_cold():
        from kernbrook import recipes
        from kernbrook.evaluation.ahead import compile_ahead

        print("compiling what the tests run on, once")
        compile_ahead(recipes.names(), 2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: to look through it for garbage takes each process four seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may be missing
def pytest_xdist_make_scheduler(config, log):
    """A file's tests go to one process: it alone compiles, loads and keeps what they share."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


def pytest_itemcollected(item):
    """Tables of papers and kills of processes are marked here, everything else beside the test."""
    printed = item.path.parent.name == "papers"
    if printed or "kill" in item.name:
        item.add_marker("slow")
    name = getattr(item, "originalname", None)
    test = "/".join(item.path.parts[-2:]), name
    if test in THINNED:
        choices = {(test, key, repr(value)) for key, value in item.callspec.params.items()}
        if choices <= MET and crc32(item.name.encode()) % 3:
            item.add_marker("long")
        MET.update(choices)
    if name in LONG:
        item.add_marker("slow")
        item.add_marker("long")
    if printed or "data_folder" in getattr(item, "fixturenames", ()):
        item.add_marker("data")


def pytest_runtest_setup(item):
    hard_streams.READS_DATA = item.get_closest_marker("data") is not None
