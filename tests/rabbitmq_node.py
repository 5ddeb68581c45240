"""A RabbitMQ of a test's own, with the management API and the tracing plugin, which the running one need not have."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

FORMS = ("json", "text")


@dataclass(frozen=True)
class Node:
    """A running broker."""

    port: int
    management: int
    traces: Path

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.management}"

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask the management API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.api}/api/{path}", data, method=method)
        request.add_header("Authorization", f"Basic {base64.b64encode(b'guest:guest').decode()}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            said = answer.read()
        return json.loads(said) if said else None

    def until(self, found: Any) -> Any:
        """Call a function until it gives something true."""
        for _ in range(600):
            result = found()
            if result:
                return result
            time.sleep(0.05)
        raise AssertionError("the broker did not do it within 30 seconds")

    @contextmanager
    def traced(self, name: str, vhost: str = "/") -> Iterator[dict[str, Path]]:
        """Trace all messages of a vhost in both forms while the block runs; when it ends, the files are complete."""
        place = quote(vhost, safe="")
        files = {form: self.traces / f"{name}-{form}.log" for form in FORMS}
        for form in FORMS:
            self.ask("PUT", f"traces/{place}/{name}-{form}", {"format": form, "pattern": "#"})
        # A trace is on when its queue is there and bound.
        self.until(lambda: len(self.ask("GET", f"exchanges/{place}/amq.rabbitmq.trace/bindings/source")) >= 2)
        try:
            yield files
            queues = [
                queue["name"] for queue in self.ask("GET", f"queues/{place}") if queue["name"].startswith("amq.gen")
            ]
            assert len(queues) == len(FORMS)
        finally:
            for form in FORMS:
                self.ask("DELETE", f"traces/{place}/{name}-{form}")

    def published(self, files: dict[str, Path], count: int) -> None:
        """Wait until both files have as many records of publications."""

        def complete() -> bool:
            held = {form: path.read_bytes() if path.exists() else b"" for form, path in files.items()}
            return (
                held["json"].count(b'"type":"published"') >= count
                and len(re.findall(rb"\n={80}\n[^\n]*: Message published\n", held["text"])) >= count
            )

        self.until(complete)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def running_node(folder: Path) -> Iterator[Node]:
    """Start a broker whose files lie in a folder, or skip where there is none installed."""
    found = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server"))
    if not found or shutil.which("erl") is None:
        pytest.skip("needs RabbitMQ: apt-get install rabbitmq-server")
    port, management, distribution = free_port(), free_port(), free_port()
    node = Node(port, management, folder / "traces")
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.1 = 127.0.0.1:{port}\nmanagement.tcp.port = {management}\nmanagement.tcp.ip = 127.0.0.1\n"
    )
    traces = (
        f'[{{rabbitmq_tracing,[{{directory,"{node.traces}"}},{{username,<<"guest">>}},{{password,<<"guest">>}}]}}].'
    )
    (folder / "advanced.config").write_text(traces)
    (folder / "enabled_plugins").write_text("[rabbitmq_management,rabbitmq_tracing].")
    environment = {
        **os.environ,
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
        "RABBITMQ_DIST_PORT": str(distribution),
    }
    output = folder / "output.txt"
    with output.open("wb") as sink:
        server = subprocess.Popen(
            [found[-1]], env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True
        )
    try:

        def answers() -> bool:
            assert server.poll() is None, output.read_text(errors="replace")[-2000:]
            try:
                return bool(node.ask("GET", "overview"))
            except OSError:
                return False

        node.until(answers)
        yield node
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
