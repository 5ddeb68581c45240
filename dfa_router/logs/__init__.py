"""Message logs as files, without Spark: what is to be read, how a part of it is routed and written, and what was counted.

A log is planned once: Parquet from names and footers (:mod:`~dfa_router.logs.planning`), divided into parts of whole row groups,
and text from names, sizes, and what was seen in its lines (:mod:`~dfa_router.logs.text_planning`), divided into ranges of bytes.
A part is routed by whoever gets it (:mod:`~dfa_router.logs.routing`): it is read with Arrow, matched, and written to a file of
its own, under a name that no other attempt has. Who began the job publishes the files of the attempts that came back
(:mod:`~dfa_router.logs.publishing`) and adds up their counts (:mod:`~dfa_router.logs.counting`). So a part may be routed twice,
half, or by a machine that dies: what was not reported is no part of the result.

What this leaves out: who runs the parts, which is Spark's (:mod:`dfa_router.spark.files`), and every log that Arrow does not
read as Spark does; :class:`~dfa_router.logs.planning.OtherWayError` says why. Spark reads those itself.
"""
