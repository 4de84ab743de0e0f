"""How any composition of kernels, learners, combiner, selection and label policy learns.

Read `rounds` first: the round, once. Then `verbs` and `store_verbs`: what parts and stores have to
do. A block of rows goes `learning` > `passes` > `rounds`, on copies of what the stores hold. Rows
one by one, or few together, go `session` > `row` > `rounds`, in arrays that change in place, with a
copy from some rows before and a journal. Predictions go `deciding` > `committee`. `horizons` judges
predictions far from the last label.
"""
