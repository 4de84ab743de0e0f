"""Kernel values between points and blocks of examples."""
