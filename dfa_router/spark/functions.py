"""Functions that Spark calls in its Python workers, in the forms that Spark's versions have.

They are pickled by value, as functions within functions are, and import this package when they run. So a worker that lacks
it says so in a sentence, where pickling by name ends in an error about unpickling that names nothing. The version is
compared, too: what is shipped is read by the code that wrote it.

Before Spark 4.1, which brought Arrow UDFs, SQL's function is a pandas UDF, which makes Python objects of every queue name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

import dfa_router
from dfa_router.spark._worker import Plan

__all__ = ["arrow_udf", "column_udf", "over_batches", "worker_check"]


def over_batches(plan: Plan) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function for ``mapInArrow``."""
    call = _guarded("route_batches", plan)

    def route_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return call(batches)

    return route_batches


def arrow_udf(plan: Plan, answer: StructType) -> Any:
    """Return an Arrow UDF of the iterator form from the key columns to a struct of these fields, or None before Spark 4.1."""
    try:
        from pyspark.sql.pandas.functions import arrow_udf as made_of
    except ImportError:
        return None
    call = _guarded("route_keys", plan)

    def route_keys(columns: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        return call(columns)

    return made_of(route_keys, returnType=answer)  # type: ignore[call-overload]


def column_udf(plan: Plan, answer: StructType) -> Any:
    """Return the same as an Arrow UDF where there are any, and else as a pandas UDF."""
    made = arrow_udf(plan, answer)
    if made is not None:
        return made
    import pandas as pd
    from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

    call = _guarded("route_series", plan)

    def route_series(columns: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.DataFrame]:
        return call(columns)

    with warnings.catch_warnings():
        # It asks for type hints in place of the kind. Those are read as values, and pandas is not imported for all.
        warnings.filterwarnings("ignore", "In Python 3.6", UserWarning)
        return pandas_udf(route_series, answer, PandasUDFType.SCALAR_ITER)  # type: ignore[call-overload]


def worker_check() -> Callable[[], str | None]:
    """Return a function that tells what the Python that calls it lacks, in a sentence, or None."""
    expected = dfa_router.__version__

    def lacking() -> str | None:
        import importlib
        import sys

        try:
            found = importlib.import_module("dfa_router").__version__
            importlib.import_module("dfa_router.spark._worker")
            said = f"it has dfa-router {found}, and the driver {expected}" if found != expected else None
        except Exception as error:  # noqa: BLE001  (a package that is there and broken may raise anything)
            said = f"{type(error).__name__}: {error}"
        if said is None:
            return None
        return (
            f"an executor cannot route with {sys.executable} (Python {sys.version.split()[0]}): {said}. Install "
            f"dfa-router[spark] {expected} for the Python of each executor, or point spark.pyspark.python to one that has it"
        )

    return lacking


def _guarded(entry: str, plan: Plan) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a call of a function of the module of workers; it holds plain values, and refers to nothing of this package."""
    lacking = worker_check()
    parts = {name: getattr(plan, name) for name in plan.__slots__}

    def call(items: Iterator[Any]) -> Iterator[Any]:
        import importlib

        said = lacking()
        if said is not None:
            raise RuntimeError(said)
        worker = importlib.import_module("dfa_router.spark._worker")
        return getattr(worker, entry)(worker.Plan(**parts), items)  # type: ignore[no-any-return]

    return call
