"""The engines: the protocol that they answer, the automata, generated code, bindings that change, and the registry."""
