"""Canon: a controlled English for prompts and for messages between agents.

>>> from steguard.canon import parse_message, render_message
>>> result = parse_message(text)
>>> result.ok, result.message, result.findings
>>> parse_message(render_message(message)).message == message
True

| module | what it holds |
|---|---|
| ``model`` | messages, sentences, conditions, times, placeholders, types |
| ``lexicon`` | verbs, fields, forbidden expressions; domain lexicons in YAML |
| ``document`` | the indentation document: nodes with exact line and column |
| ``message``, ``sentence``, ``condition``, ``times``, ``types`` | the parsers |
| ``render``, ``format`` | text from objects; the formatter |
| ``surface`` | the same in Chinese and Japanese |
| ``grammar`` | the language as GBNF, Lark and regex for constrained decoding |
| ``raw`` | the exact text, invisible characters by name |
"""
