"""How patterns and keys are written: dialects, their rules, what is refused, and one dialect said in another."""
