"""Headers exchanges: what bindings demand of a message's headers, and what headers of messages are."""
