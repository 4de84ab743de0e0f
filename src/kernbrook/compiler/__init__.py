"""How functions are compiled: one decorator, verbs that a class chooses, links between them.

Nothing here knows of kernels, learners or rows. `compiling` has the decorator and verbs. `links`
and `addresses` let compiled code call a verb without knowing for whom. `borrowing` makes that quick
to run, `inner` quick to compile. `disk_cache` keeps it, `first_use` says that it takes a while, and
`checking` what is wrong with verbs from outside.
"""
