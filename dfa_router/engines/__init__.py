"""The engines: what each of them answers (``protocol``), the automata, generated code, bindings that change, and the registry."""
