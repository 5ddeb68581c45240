"""One AMQP 0-9-1 connection with one channel: handshake, frames sent, frames received.

pamqp packs and reads the methods that are rare. A publication and a delivery are three frames each, and a round has
thousands of both, so these are packed and read here, which is an order of magnitude faster.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from pamqp import base, commands, common, exceptions, frame, header

from dfa_router.brokers.address import Address
from dfa_router.brokers.stream import LostError, Stream

__all__ = ["Channel", "Frames", "method", "publication"]

Frames = Callable[[base.Frame], bool]

_CHANNEL = 1
_FRAME = struct.Struct(">BHI")
_METHOD, _END, _KINDS = 1, b"\xce", (1, 2, 3, 8)
_PUBLISH = struct.pack(">HHH", 60, 40, 0)
_DELIVER = struct.pack(">HH", 60, 60)
_FRAME_MAX = 131_072


def method(value: base.Frame, channel: int = _CHANNEL) -> bytes:
    """Return the frame of a method."""
    return frame.marshal(value, channel)


def publication(exchange: bytes) -> Callable[[bytes, bytes], bytes]:
    """Return a function that takes a routing key and a body, and returns the frames that publish them to the exchange.

    The message has no properties.
    """
    begin = _PUBLISH + bytes((len(exchange),)) + exchange
    content = struct.Struct(">HHQH")

    def publish(key: bytes, body: bytes) -> bytes:
        payload = b"%b%c%b\0" % (begin, len(key), key)
        properties = content.pack(60, 0, len(body), 0)
        return b"%b%b\xce%b%b\xce%b%b\xce" % (
            _FRAME.pack(_METHOD, _CHANNEL, len(payload)),
            payload,
            _FRAME.pack(2, _CHANNEL, len(properties)),
            properties,
            _FRAME.pack(3, _CHANNEL, len(body)),
            body,
        )

    return publish


class Channel:
    """An open channel; every method raises :class:`LostError`, with the broker's words, when the broker closes it."""

    def __init__(self, address: Address, name: str) -> None:
        """Connect, log in, open the vhost and one channel."""
        self._stream = Stream(address)
        self._rest = b""
        self.product = "an AMQP broker"
        try:
            self._log_in(address, name)
        except BaseException:
            self.close()
            raise
        self._stream.patience = address.timeout

    def _log_in(self, address: Address, name: str) -> None:
        user, password = address.user or "guest", address.password if address.password is not None else "guest"
        self._ask(header.ProtocolHeader().marshal(), commands.Connection.Start)
        about: common.FieldTable = {
            "product": "dfa-router",
            "connection_name": name,
            "capabilities": {"authentication_failure_close": True, "connection.blocked": True},
        }
        login = commands.Connection.StartOk(about, "PLAIN", f"\0{user}\0{password}", "en_US")
        tune = self._ask(method(login, 0), commands.Connection.Tune)
        offered = getattr(tune, "frame_max", 0) or _FRAME_MAX
        accept = commands.Connection.TuneOk(getattr(tune, "channel_max", 0), min(offered, _FRAME_MAX), 0)
        self._ask(method(accept, 0) + method(commands.Connection.Open(address.vhost), 0), commands.Connection.OpenOk)
        self._ask(method(commands.Channel.Open()), commands.Channel.OpenOk)

    def ask(self, data: bytes, answer: type[base.Frame]) -> None:
        """Send frames and wait for a method of the type ``answer``; deliveries that come before it are dropped."""
        self._ask(data, answer)

    def deliveries(self, data: bytes, deliver: Callable[[bytes, bytes], bool]) -> None:
        """Send frames and pass each delivery to ``deliver``, as consumer tag and body, until that returns True."""
        self._talk(data, lambda _frame: False, deliver)

    def leave(self) -> None:
        """Close the connection and wait until the broker has removed what lived with it."""
        try:
            self._ask(method(commands.Connection.Close(200, "done", 0, 0), 0), commands.Connection.CloseOk)
        except LostError:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Close the socket at once."""
        self._stream.close()

    def _ask(self, data: bytes, answer: type[base.Frame]) -> base.Frame:
        found: list[base.Frame] = []

        def seen(value: base.Frame) -> bool:
            if isinstance(value, commands.Connection.Start):
                about = value.server_properties or {}
                self.product = " ".join(str(about[part]) for part in ("product", "version") if part in about)
            if isinstance(value, answer):
                found.append(value)
            return bool(found)

        self._talk(data, seen, lambda _tag, _body: False)
        return found[0]

    def _talk(self, data: bytes, seen: Frames, deliver: Callable[[bytes, bytes], bool]) -> None:
        def feed(data: bytes) -> bool:
            data, at, done = self._rest + data, 0, False
            size, unpack = len(data), _FRAME.unpack_from
            while size - at >= 8:
                kind, _, length = unpack(data, at)
                end = at + length + 8
                if end > size:
                    if kind not in _KINDS:
                        raise LostError("nonsense", f"it sends {data[:16]!r}, which is no AMQP 0-9-1 frame")
                    break
                if kind == _METHOD and data[at + 7 : at + 11] == _DELIVER:
                    # A delivery's frames follow one another on their channel, and there is one channel.
                    if size - end < 8:
                        break
                    begin = end + unpack(data, end)[2] + 8
                    if size - begin < 8:
                        break
                    last = begin + unpack(data, begin)[2] + 8
                    if last > size:
                        break
                    tag = at + 12
                    done = deliver(data[tag : tag + data[at + 11]], data[begin + 7 : last - 1]) or done
                    at = last
                    continue
                done = self._method(data[at:end], seen) or done
                at = end
            self._rest = data[at:]
            return done

        self._stream.talk(data, feed)

    def _method(self, data: bytes, seen: Frames) -> bool:
        """Read a frame that is no delivery, and return whether it is the awaited one."""
        if data[0] not in _KINDS or data[-1:] != _END:
            raise LostError("nonsense", f"it sends {data[:16]!r}, which is no AMQP 0-9-1 frame")
        if data[0] != _METHOD:
            return False
        try:
            value = frame.unmarshal(data)[2]
        except exceptions.PAMQPException as error:
            raise LostError("nonsense", f"it sends a method that cannot be read: {error}") from None
        if isinstance(value, (commands.Channel.Close, commands.Connection.Close)):
            raise LostError("died", value.reply_text or f"code {value.reply_code}")
        if isinstance(value, commands.Connection.Blocked):
            raise LostError("hung", f"the broker takes no messages at present: {value.reason}")
        return isinstance(value, base.Frame) and seen(value)
