"""What is right, and what a target's answer is worth: ``manners`` says what a target may refuse, ``judge`` decides."""
