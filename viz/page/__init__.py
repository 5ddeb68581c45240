"""The page that steps through matches: one HTML file, a server for this machine, and a site of lessons.

The page compiles what its reader types and plays what the engine does, so ``script`` has a second compiler and a second engine;
tests hold them to those of :mod:`compiler`. ``scripts`` lists them, ``html`` puts a page together.
"""
