"""A grammar (GBNF, llama.cpp's own form) that holds calls of tools to the tools' names and JSON schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from assistant.core.values import ToolSpec
from assistant.engine.tool_formats import ToolFormat

MARKED, BARE = "marked", "bare"
"""The grammar's roots: what may come behind a call's mark, and a reply that is a call without one."""

_CHARACTER = r'char ::= [^"\\\x7F\x00-\x1F] | [\\] (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])'
_STRING = r'string ::= "\"" char{0,600} "\"" space'
"""A model that falls into a loop inside a text gets out of it, and the call is whole."""
_SPACE = r'space ::= (" " | "\n" [ \t]{0,20})?'
"""Small models like to write one line for each part of a call."""
_NUMBERS_LISTED = 400
"""Whole numbers between limits are listed one by one, up to so many; the library knows no limits."""


def call_grammar(form: ToolFormat, tools: Sequence[ToolSpec]) -> str:
    """The grammar with the roots MARKED and BARE. Raises ValueError for a schema that cannot be one."""
    call = _renamed(_json_grammar({"anyOf": [_call_schema(form, tool) for tool in tools]}))
    return "\n".join([call, "blank ::= [ \\t\\n]{0,3}", *_roots(form)])


def _roots(form: ToolFormat) -> list[str]:
    closing = f" blank {_literal(form.closing)}" if form.closing else ""
    more = form.most - 1
    if form.listed:
        return [
            f'{MARKED} ::= blank "[" blank call (blank "," blank call){{0,{more}}} blank "]"',
            f"{BARE} ::= blank call",
        ]
    again = f" (blank {_literal(form.opening)} blank call{closing}){{0,{more}}}" if more else ""
    bare = f"({closing.strip()})?" if closing else ""
    return [f"{MARKED} ::= blank call{closing}{again}", f"{BARE} ::= blank call {bare}".rstrip()]


def _call_schema(form: ToolFormat, tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, form.arguments: _listed_numbers(dict(tool.parameters))},
        "required": ["name", form.arguments],
    }


def _json_grammar(schema: Mapping[str, Any]) -> str:
    """llama-cpp-python's own translation.

    WORKAROUND: it lets line ends stand in texts, which JSON does not allow, and none between the parts of an object,
    which it does; drop when it is later than 0.3.36.
    """
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    try:
        grammar = json_schema_to_gbnf(json.dumps(schema))
    except Exception as error:
        raise ValueError(f"a tool's schema cannot be a grammar: {error}") from error
    grammar = re.sub(r"(?m)^char ::= .*$", lambda _: _CHARACTER, grammar)
    grammar = re.sub(r"(?m)^space ::= .*$", lambda _: _SPACE, grammar)
    return re.sub(r"(?m)^string ::= .*$", lambda _: _STRING, grammar)


def _renamed(grammar: str) -> str:
    return re.sub(r"(?m)^root ::=", "call ::=", grammar)


def _listed_numbers(schema: Any) -> Any:
    """The schema, its whole numbers between two limits replaced by the list of them."""
    if isinstance(schema, list):
        return [_listed_numbers(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    match schema:
        case {"type": "integer", "minimum": int(low), "maximum": int(high)} if 0 <= high - low <= _NUMBERS_LISTED:
            return {"enum": list(range(low, high + 1))}
    return {key: _listed_numbers(value) for key, value in schema.items()}


def _literal(text: str) -> str:
    return json.dumps(text)
