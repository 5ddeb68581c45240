"""The engine around the kernels: the lazy DFA, its bounded cache, and the policies that decide when to build and when to simulate."""
