"""Opens a live broker that speaks the dialect of a campaign, to be asked or to judge."""

from __future__ import annotations

from dfa_router.brokers import Broker, connect
from dfa_router.errors import OptionError
from dfa_router.fuzz.spoken import alike
from dfa_router.language.dialects import Dialect

__all__ = ["open_broker"]


def open_broker(url: str, dialect: Dialect) -> Broker:
    """Return the broker at ``url``; the caller closes it.

    Raises :class:`OptionError` for one that reads other wildcards or separators: it would refuse what is asked, or take it
    for something else, and a finding that it was to confirm would count no more. Raises what ``connect`` raises, too.
    """
    broker = connect(url)
    if not alike(broker.dialect, dialect):
        broker.close()
        raise OptionError(
            f"the broker at {broker.name} speaks {broker.dialect.name!r}, not {dialect.name!r}: "
            "use that dialect, or another broker"
        )
    return broker
