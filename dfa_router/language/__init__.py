"""How patterns and keys are written: dialects, what their rules do, what is invalid, and conversion between dialects."""
