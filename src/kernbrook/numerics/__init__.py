"""Compiled code that knows no kernel, learner or combiner by its class: arrays in, arrays out.

Nothing here knows of estimators or of files. A learner or combiner is an integer code with a row
of parameters; a kernel is a step of a plan, whose values are compiled where the kernel is defined.
"""
