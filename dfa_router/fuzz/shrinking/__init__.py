"""From the disagreement that was met to the simplest case of its kind: ``shrink`` and the steps it tries, ``neighbours``."""
