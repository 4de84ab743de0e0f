"""How any composition of kernels, learners, combiner, selection and label policy learns."""
