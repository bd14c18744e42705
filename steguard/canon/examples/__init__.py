"""Examples that run offline: ``python -m steguard.canon.examples.prompt_validator`` and
``python -m steguard.canon.examples.agent_chat``. Each ends with status 1 if something that it
shows did not hold."""
