"""The plain loop: read row groups, add lists that are there already, write; the least that any pipeline of this log does.

    python -m benchmarks.pipeline.loop JOB.json OUT

The job has the row groups of each file that is to be written, and a Parquet file of lists and of a column of row numbers in it.
Codec, row groups and files are those of ``dfa-router route``; one thread, as each of its tasks has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["main"]


def main(job: Path, out: Path) -> None:
    """Write the files."""
    told = json.loads(job.read_text())
    out.mkdir()
    routes = pq.read_table(told["routes"]).combine_chunks()
    ids = pq.read_table(told["ids"])["id"].to_numpy()
    for number, pieces in enumerate(told["parts"]):
        writer = None
        for path, groups in pieces:
            file = pq.ParquetFile(path)
            for group in groups:
                table = file.read_row_group(group, use_threads=False)
                taken = routes.take(pa.array(np.resize(ids, len(table))))
                for name in taken.column_names:
                    table = table.append_column(name, taken[name])
                if writer is None:
                    writer = pq.ParquetWriter(out / f"part-{number:05}.parquet", table.schema, compression="snappy")
                writer.write_table(table)
        if writer is not None:
            writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
