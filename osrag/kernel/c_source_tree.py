"""Definitions in the tree that tree-sitter makes of clean C."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from osrag.kernel.c_source_blocks import Definition, macro_function
from osrag.kernel.c_source_clean import Clean, Span
from osrag.types import ChunkKind


@cache
def parser() -> Any:
    """The parser of C; tree-sitter is loaded when the first file is read."""
    import tree_sitter
    import tree_sitter_c

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))


def definitions(root: Any, cleaned: Clean) -> Iterator[Definition]:
    """Functions, types and tables at the top level of a file."""
    stack = list(reversed(root.children))
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            yield from _function(node, cleaned)
        elif node.type in ("struct_specifier", "union_specifier", "enum_specifier"):
            yield from _type(node, node)
        elif node.type in ("declaration", "type_definition"):
            yield from _declaration(node)
        elif node.type in ("ERROR", "linkage_specification", "declaration_list"):
            stack.extend(reversed(node.children))


def _function(node: Any, cleaned: Clean) -> Iterator[Definition]:
    body = node.child_by_field_name("body")
    aliases: tuple[str, ...] = ()
    if node.start_byte in cleaned.macro_names:
        name, aliases = macro_function(*cleaned.macro_names[node.start_byte])
    else:
        name = _declared_name(node.child_by_field_name("declarator"))
    if name and body is not None and not _swallowed(node, body):
        yield Definition(Span(node.start_byte, _end(node, cleaned)), ChunkKind.FUNCTION, name, body.start_byte, aliases)


def _swallowed(node: Any, body: Any) -> bool:
    """Whether recovery from an error put another function into the head of this one."""
    heads = (child for child in node.children if child.type == "ERROR" and child.end_byte <= body.start_byte)
    return any(b"}" in child.text for child in heads)


def _end(node: Any, cleaned: Clean) -> int:
    """Where the function ends: where the grammar could not read it, at the first `}` at the left margin."""
    if not node.has_error:
        return int(node.end_byte)
    margin = cleaned.text.find(b"\n}", node.start_byte, node.end_byte)
    return int(node.end_byte) if margin < 0 else margin + 2


def _declared_name(node: Any) -> str:
    while node is not None:
        if node.type in ("identifier", "type_identifier", "field_identifier"):
            return str(node.text.decode())
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (child for child in node.children if child.is_named and child.type.endswith("declarator")), None
            )
            if inner is None and node.type == "parenthesized_declarator":
                inner = next((child for child in node.children if child.type == "identifier"), None)
        node = inner
    return ""


def _type(node: Any, whole: Any, *, declared: Sequence[str] = ()) -> Iterator[Definition]:
    """A type with a body, under its tag; without one under what is declared with it, or its first enumerator."""
    body = node.child_by_field_name("body")
    if body is None:
        return
    tag = _tag(node)
    kind = ChunkKind.ENUM if node.type == "enum_specifier" else ChunkKind.STRUCT
    constants: tuple[str, ...] = ()
    if kind is ChunkKind.ENUM:
        constants = tuple(
            child.child_by_field_name("name").text.decode() for child in body.children if child.type == "enumerator"
        )
    names = list(dict.fromkeys(name for name in (tag, *declared) if name)) or list(constants[:1])
    if names:
        span = Span(whole.start_byte, whole.end_byte)
        yield Definition(span, kind, names[0], body.start_byte, (*constants, *names[1:]))


def _tag(node: Any) -> str:
    """`x` of `struct x {...}`; empty for a type without a name."""
    named = node.child_by_field_name("name")
    return str(named.text.decode()) if named is not None else ""


def _declaration(node: Any) -> Iterator[Definition]:
    """A table, a type, or both at once: `static struct x {...} y = {...}` is a table y, also found as x."""
    kind = node.child_by_field_name("type")
    typed = kind is not None and kind.type in ("struct_specifier", "union_specifier", "enum_specifier")
    tag = _tag(kind) if typed and kind.child_by_field_name("body") is not None else ""
    declared = list(node.children_by_field_name("declarator"))
    for child in declared:
        value = child.child_by_field_name("value") if child.type == "init_declarator" else None
        if value is not None and value.type == "initializer_list":
            name = _declared_name(child)
            if name:
                span = Span(node.start_byte, node.end_byte)
                yield Definition(span, ChunkKind.TABLE, name, value.start_byte, (tag,) if tag else ())
                return
    if typed:
        yield from _type(kind, node, declared=[_declared_name(child) for child in declared])


def errors(root: Any) -> list[Any]:
    """Error nodes in file order, outermost only."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR":
            found.append(node)
        elif node.has_error:
            stack.extend(reversed(node.children))
    return found
