"""A profile as a decoding grammar: the model cannot write what the profile forbids.

>>> from steguard.contract import compile_contract
>>> from steguard.decode import compile_constraint
>>> constraint = compile_constraint(compile_contract("strict"), names=["heat pump"])
>>> constraint.accepts("The heat pump moves heat.")
True
>>> constraint.accepts("The heat is moved by the pump.")
False
"""

from steguard.decode.bias import logit_bias
from steguard.decode.constraint import Constraint, compile_constraint
from steguard.decode.forbidden import Service
from steguard.decode.schema import constrain_schema

__all__ = ["Constraint", "Service", "compile_constraint", "constrain_schema", "logit_bias"]
