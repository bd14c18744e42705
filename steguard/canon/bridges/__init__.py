"""Bridges to other agent protocols: A2A (:mod:`.a2a`, extra ``a2a``) and MCP (:mod:`.mcp`, extra
``mcp``). What one side has and the other cannot say is a :class:`BridgeError`, never a guess."""

from steguard.canon.bridges.errors import BridgeError

__all__ = ["BridgeError"]
