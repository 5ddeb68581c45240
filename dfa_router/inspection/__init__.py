"""What a topology does to messages, told without Spark: a trace replayed, two topologies compared, one looked over.

:mod:`~dfa_router.inspection.replay` routes what a broker has traced and compares the queues;
:mod:`~dfa_router.inspection.witnesses` finds the shortest keys that two topologies treat differently, and
:mod:`~dfa_router.inspection.comparison` the messages of a log; :mod:`~dfa_router.inspection.imports` tells what a broker would
say to an import. :mod:`~dfa_router.inspection.audit` counts what a log does to each binding and queue, and
:mod:`~dfa_router.inspection.report` makes a page of that.

What this leaves out: tables of millions of rows as a result. Here is counted, with examples; ``dfa-router route`` writes rows.
"""
