"""Runnable examples of instructions, with their rules and recorded model output."""
