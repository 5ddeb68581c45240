"""``dfa-router mcp``: exact answers for assistants, by the Model Context Protocol."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import click

import dfa_router
from dfa_router.cli.assistant_tools import TOOLS
from dfa_router.errors import EnvironmentLacksError, RouterError

__all__ = ["mcp"]


@click.command(short_help="Answer an assistant's questions about binding tables (Model Context Protocol).")
def mcp() -> None:
    """Serve the tools route, why_not, diff, lint and relation on standard input and output, until it ends.

    An assistant that starts this command can ask who gets a message, why a queue does not, what a change changes, and what is
    wrong with a binding table. The tools read files that they are given the names of, and write none; they ask no
    broker and no address.

    \b
    In the configuration of an assistant:
      {"mcpServers": {"dfa-router": {"command": "dfa-router", "args": ["mcp"]}}}
    """  # noqa: D301 - click wants the control character itself
    try:
        from mcp.server import MCPServer
    except ImportError as error:
        raise EnvironmentLacksError("the server needs the package mcp: pip install 'dfa-router[mcp]'") from error
    kind = _kind_of_tool()
    tools = [kind.from_function(_told(tool)) for tool in TOOLS]
    for tool in tools:  # an argument that is passed over would be answered as if it had not been given
        arguments = tool.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        tool.parameters = arguments.model_json_schema(by_alias=True)
    server = MCPServer("dfa-router", version=dfa_router.__version__, instructions=str(dfa_router.__doc__), tools=tools)
    server.run("stdio")


def _kind_of_tool() -> Any:
    """Return the package's class of tools, made to tell of arguments that do not fit in words: it hands on pydantic's."""
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from pydantic import ValidationError

    class Telling(Tool):
        async def run(self, *arguments: Any, **named: Any) -> Any:
            try:
                return await super().run(*arguments, **named)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                told = _misfits(self.name, self.parameters, error.__cause__.errors())
                raise ToolError(f"Error executing tool {self.name}: {told}") from error

    return Telling


def _misfits(name: str, schema: dict[str, Any], errors: Iterable[Any]) -> str:
    """Tell what is wrong with the arguments of a tool, and which it takes."""
    taken = schema["properties"]
    needed = [f"`{one}`" for one in schema["required"]]
    others = [f"`{one}`" for one in taken if one not in schema["required"]]
    texts = []
    for error in errors:
        argument = str(error["loc"][0])
        if argument not in taken:
            texts.append(f"there is no argument `{argument}`")
        elif error["type"] == "missing":
            texts.append(f"`{argument}` is missing")
        else:
            expected = {"string": "a text", "integer": "a whole number"}[taken[argument]["type"]]
            texts.append(f"`{argument}` is {error['input']!r}: expected {expected}")
    return f"{'; '.join(texts)}. {name} takes {', '.join(needed)}" + (
        f"; what may be left out: {', '.join(others)}" if others else ""
    )


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Let a tool tell what is wrong with a question: place and remedy are in the text, and options are its parameters."""
    from mcp.server.mcpserver.exceptions import ToolError

    signature = inspect.signature(tool, eval_str=True).replace(return_annotation=dict[str, Any])
    options = re.compile(rf"--({'|'.join(signature.parameters)})\b")

    def answer(*arguments: Any, **named: Any) -> Any:
        try:
            return {"answer": tool(*arguments, **named)}
        except RouterError as error:
            raise ToolError(options.sub(r"`\1`", str(error))) from error

    answer.__name__, answer.__doc__ = tool.__name__, tool.__doc__
    answer.__signature__ = signature  # type: ignore[attr-defined]
    answer.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()} | {
        "return": dict[str, Any]
    }
    return answer
