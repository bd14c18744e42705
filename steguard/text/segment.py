"""Text to sentences, whole or piece by piece: the same code does both.

The law: for any way to cut a text into pieces, ``feed`` on each piece and then ``close`` give
the sentences that :func:`segment` gives for the whole.
"""

from __future__ import annotations
