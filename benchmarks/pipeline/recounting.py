"""The counts of a result, made once more by DuckDB from the rows that were written."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

__all__ = ["recount"]

QUERY = """
with rows as (select * from read_parquet('{routed}/part-*.parquet'))
select 'queue' as kind, vhost, name, count(*) as messages
    from (select vhost, unnest(queues) as name from rows) group by all
union all
select 'not_simulated', vhost, name, count(*)
    from (select vhost, unnest(not_simulated) as name from rows) group by all
union all
select 'exchange', vhost, exchange, count(*) from rows where exchange is not null group by all
union all
select 'problem', null, problem, count(*) from rows where problem is not null group by all
"""


def recount(routed: Path, counts: Path) -> int:
    """Compare a file of counts with what DuckDB counts in a result; return how many counts are equal.

    Raises ``AssertionError`` that names a count that differs.
    """
    import duckdb

    own = {
        (row["kind"], row["vhost"], row["name"]): row["messages"]
        for row in pq.read_table(counts).to_pylist()
        if row["kind"] != "unroutable"
    }
    with duckdb.connect() as connection:
        found = {tuple(row[:3]): row[3] for row in connection.execute(QUERY.format(routed=routed)).fetchall()}
    for about in own.keys() | found.keys():
        assert own.get(about) == found.get(about), f"{about}: {own.get(about)} counted, {found.get(about)} by DuckDB"
    return len(own)
