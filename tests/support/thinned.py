"""Tests of many cases that take long: a part of the cases runs often."""

from zlib import crc32

# File -> tests, each case some choices together. `-m "not long"` runs the cases with a choice that
# none before has, and a tenth of the others. All: `pytest -n 2`.
THINNED = {
    "engine/test_ada_raker.py": """
        test_chunks_change_nothing test_classes test_numbers test_restarts
    """,
    "engine/test_ahead.py": """
        test_the_same_bits
    """,
    "engine/test_blocks.py": """
        test_chunks_and_sparsity test_chunks_of_other_recipes
        test_duplicates_with_both_labels
    """,
    "engine/test_budget.py": """
        test_against_the_twin test_chunks_and_sparsity test_hard_streams
        test_the_budget_is_never_exceeded test_what_is_held_decides
    """,
    "engine/test_combiners.py": """
        test_bound_of_adahedge test_bound_of_fixed_share test_bound_of_hedge
        test_bound_of_ml_poly test_the_machine_equals_its_twin
    """,
    "engine/test_every_part.py": """
        test_learners_equal_their_twins
    """,
    "engine/test_features_pass.py": """
        test_chunks_and_sparsity_change_nothing test_classes_of_real_streams
        test_combiners_of_classes test_combiners_of_numbers test_numbers
    """,
    "engine/test_gradient.py": """
        test_a_scale_that_shrinks_for_ever test_budgets test_chunks_change_nothing
        test_hard_streams
    """,
    "engine/test_merging.py": """
        test_kernel_values_of_0_and_1
    """,
    "engine/test_mixed_pools.py": """
        test_a_pool_equals_naive_experts test_chunks_sparsity_and_files_change_nothing
        test_the_pool_is_within_its_bound_of_the_best
    """,
    "engine/test_multiclass.py": """
        test_against_the_twin test_chunks_and_sparsity test_om2
        test_perceptrons_on_hard_streams test_the_budget_is_never_exceeded
    """,
    "engine/test_outside.py": """
        test_against_a_plain_loop test_chunks_change_nothing
    """,
    "engine/test_passive_aggressive.py": """
        test_chunks_and_sparsity test_one_step test_pa_meets_the_margin
        test_twins_on_hard_streams test_twins_on_wdbc
    """,
    "engine/test_pegasos.py": """
        test_a_loaded_model_goes_on_exactly test_chunks_and_sparsity test_hard_streams
        test_letter test_pools test_pools_of_two_classes test_the_scale_never_underflows
        test_wdbc test_what_is_held_decides
    """,
    "engine/test_policies.py": """
        test_classes_against_the_twin test_rows_that_are_stored_are_not_judged
    """,
    "engine/test_projecting.py": """
        test_against_the_twin test_chunks_and_sparsity test_every_step_of_hard_streams
        test_the_budget_is_never_exceeded test_what_is_held_decides test_whole_streams
    """,
    "engine/test_session.py": """
        test_a_prediction_is_that_of_a_chunk test_a_row_is_a_chunk_of_one
        test_few_rows_are_a_block
    """,
    "engine/test_single_precision.py": """
        test_chunks_of_any_size test_decisions_are_equal_but_where_the_margin_is_rounding
    """,
    "engine/test_twins.py": """
        test_best_of_prefix test_om2 test_omkc_on_hard_streams
    """,
    "engine/test_windows.py": """
        test_windows_of_any_size
    """,
    "estimators/test_go_on_alike.py": """
        test_every_combiner test_every_learner test_numbers
    """,
    "estimators/test_labels_given.py": """
        test_a_chunk_without_rows_is_nothing
        test_a_missing_label_is_an_answer_that_cannot_be_had
    """,
    "estimators/test_outside.py": """
        test_a_model_of_scikit_learn_is_tested_then_trained
    """,
    "estimators/test_late.py": """
        test_any_delay_and_any_order
    """,
    "estimators/test_merge.py": """
        test_every_learner_goes_on_and_is_saved
    """,
    "estimators/test_multiclass.py": """
        test_a_loaded_model_goes_on_exactly test_estimator_checks
    """,
    "estimators/test_named.py": """
        test_chunks_and_the_naive_twin
    """,
    "estimators/test_read_only.py": """
        test_a_model_in_a_file_and_read_only_rows
    """,
    "estimators/test_regressor.py": """
        test_estimator_checks test_our_recipes test_the_papers_recipes
    """,
    "estimators/test_scikit_learn.py": """
        test_estimator_checks
    """,
    "estimators/test_sparse_input.py": """
        test_whole_matrices_of_any_form
    """,
    "estimators/test_transformer.py": """
        test_estimator_checks
    """,
    "estimators/test_widening.py": """
        test_it_is_as_if_they_had_always_been_there
    """,
    "evaluation/test_labelling.py": """
        test_killed_at_every_answer test_killed_while_an_answer_is_taken_back
        test_the_model_is_the_one_that_hidden_labels_give
    """,
    "evaluation/test_metrics.py": """
        test_metrics_of_scikit_learn
    """,
    "evaluation/test_prequential.py": """
        test_a_record_of_numbers_is_consistent
        test_the_most_probable_class_is_the_one_that_is_said
    """,
    "evaluation/test_training.py": """
        test_stretches_come_to_the_same_file
    """,
    "kernels/test_anova.py": """
        test_the_mean_of_maps_approaches_the_mean_over_sets
    """,
    "kernels/test_features.py": """
        test_frequencies_have_the_spectrum_of_the_kernel
    """,
    "papers/test_omkc.py": """
        test_deterministic_rows test_drawn_rows
    """,
    "reports/test_over_time.py": """
        test_every_shape_of_history_is_drawn
    """,
    "reports/test_plot.py": """
        test_numbers_of_an_axis_do_not_touch
    """,
    "streams/test_exports.py": """
        test_every_export_is_the_same_rows
    """,
    "streams/test_files.py": """
        test_ends_of_lines
    """,
    "streams/test_written.py": """
        test_a_format_that_leaves_no_doubt_is_found_and_kept
    """,
    "voted/test_program.py": """
        test_the_least_objective
    """,
    "voted/test_scikit_learn.py": """
        test_estimator_checks
    """,
}
# The same, of cases with one choice each, in which a fault would be seen in many at once: the first
# and a quarter of the others.
SAMPLED = {
    "cli/test_showing.py": """
        test_every_saved_model
    """,
    "cli/test_words.py": """
        test_settings_are_refused_in_a_line_or_work
    """,
    "engine/test_every_part.py": """
        test_properties_of_combiners test_properties_of_learners test_properties_of_policies
    """,
    "engine/test_interruptions.py": """
        test_before_any_line test_by_a_timer
    """,
    "engine/test_pegasos.py": """
        test_covtype
    """,
    "engine/test_policies.py": """
        test_an_oracle_is_as_good_as_labels test_an_oracle_that_has_no_label
        test_chunks_change_nothing test_should_ask_is_what_the_round_does
    """,
    "estimators/test_budgeted.py": """
        test_estimator_checks
    """,
    "estimators/test_classifier.py": """
        test_library_mode
    """,
    "estimators/test_parameters.py": """
        test_an_odd_value_works_or_is_refused_in_a_line
    """,
    "estimators/test_regressor.py": """
        test_a_kernel_without_a_constant_is_learned_with_one test_a_loaded_model_goes_on_exactly
        test_chunks_change_nothing test_predict_is_pure test_predict_says_what_learn_says
    """,
    "estimators/test_saving.py": """
        test_a_loaded_model_goes_on_exactly test_not_fitted_yet
    """,
    "estimators/test_scikit_learn.py": """
        test_every_recipe_clones_and_fits
    """,
    "estimators/test_sparse_input.py": """
        test_damaged_matrices
    """,
    "evaluation/test_prequential.py": """
        test_a_record_is_consistent test_an_order_is_the_rows_in_that_order
        test_orders_and_streams_of_numbers
    """,
    "kernels/test_kernels.py": """
        test_properties
    """,
    "kernels/test_lanes.py": """
        test_any_number_of_examples_from_any_on test_any_number_of_points
    """,
    "reports/test_page.py": """
        test_every_published_table_has_a_page test_pages_of_few_and_many_data_sets
    """,
    "river/test_checks.py": """
        test_a_check_of_river
    """,
    "streams/test_gaps.py": """
        test_a_gap_is_one_in_every_format test_other_text_is_a_level_in_every_format
    """,
    "streams/test_svmlight.py": """
        test_real_files_as_scikit_learn_reads_them
    """,
}
_met = set()  # choices and tests so far


def is_left_out(item):
    """Whether the case is left out; the items come in the order of their collection."""
    name = getattr(item, "originalname", None)
    file = "/".join(item.path.parts[-2:])
    if name in SAMPLED.get(file, "").split():
        first = (file, name) not in _met
        _met.add((file, name))
        return not first and crc32(item.name.encode()) % 4 != 0
    if name not in THINNED.get(file, "").split():
        return False
    if item.get_closest_marker("long"):
        return True
    choices = {(file, name, key, repr(value)) for key, value in item.callspec.params.items()}
    known = choices <= _met
    _met.update(choices)
    return known and crc32(item.name.encode()) % 10 != 0
