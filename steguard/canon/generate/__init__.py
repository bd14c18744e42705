"""From a valid Canon message to something else that a program runs: SQL, HTTP, a template.

>>> mapping = load_mapping("mapping.yaml")
>>> to_sql(message, mapping, registry)       # a SQLAlchemy expression, values bound
>>> to_http(message, mapping, registry)      # method, url, query, headers, json
>>> to_template(message)                     # a Jinja2 template of such messages

Identifiers, addresses and methods come from the mapping alone, values from the message alone. What
the mapping does not use is an error and never dropped in silence.
"""

from steguard.canon.generate.http import HttpMapping, to_http
from steguard.canon.generate.mapping import Mapping, load_mapping, read_mapping
from steguard.canon.generate.sql import SqlMapping, to_sql
from steguard.canon.generate.template import render_template, to_template
from steguard.canon.generate.values import GenerationError

__all__ = [
    "GenerationError",
    "HttpMapping",
    "Mapping",
    "SqlMapping",
    "load_mapping",
    "read_mapping",
    "render_template",
    "to_http",
    "to_sql",
    "to_template",
]
