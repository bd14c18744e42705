"""Instructions for agents: a behaviour contract that a program can check.

A rule is guidance for a model and, where it has a validator or a tool effect, a check for a
program. Rules are no security boundary; :mod:`steguard.gate` is.
"""
