"""Many runs at once, and what is compiled for them before."""
