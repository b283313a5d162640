"""Whether two programs are the same but for names, layout, order of functions and common ways to write one thing.

Each program is turned into a form in which these differences are gone (`i++` and `i += 1`, `a > b` and `b < a`,
`while` and `for`, `!p` and `p == NULL`, braces around one statement, …). Equal forms mean equal programs; unequal
forms mean nothing.
"""

from collections.abc import Iterator
from typing import Any

from osrag.quiz.programs.code import Code, text_of, walk

Form = Any  # nested tuples of strings
_MIRRORED = {">": "<", ">=": "<="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": "<=", "<=": "<"}  # of the mirrored form: not a < b is b <= a
_EITHER_WAY = ("+", "*", "==", "!=", "&", "|", "^")
_NOTHING = ("NULL", "0", "false")
_TOP = (
    "function_definition", "declaration", "struct_specifier", "union_specifier", "enum_specifier", "type_definition",
    "preproc_def", "preproc_function_def", "preproc_if", "preproc_ifdef",
)  # fmt: skip
_NAMES = ("identifier", "type_identifier", "field_identifier", "statement_identifier")


def form_of(code: Code) -> Form:
    """The form of a whole program; functions, types and globals in an order that their names have no part in."""
    if code.deep:
        return ("deep", code.source)
    own = _own_names(code)
    parts = [_Reader(own).top(node) for node in code.tree.named_children]
    ordered = sorted((part for part in parts if part), key=_nameless)
    numbers: dict[str, str] = {}
    return tuple(_settled(_numbered(part, numbers)) for part in ordered)


def _settled(form: Form) -> Form:
    """The sides of what may stand either way, ordered now that names are numbers."""
    if isinstance(form, str):
        return form
    parts = tuple(_settled(part) for part in form)
    if parts and parts[0] in (*_EITHER_WAY, "greater", "lesser") and len(parts) == 3:
        return (parts[0], *sorted(parts[1:], key=str))
    return parts


def _own_names(code: Code) -> frozenset[str]:
    """The names that the program itself gives to something."""
    found = set()
    for node in walk(code.tree):
        if node.type in ("declaration", "parameter_declaration", "field_declaration", "function_definition"):
            found |= {text_of(one) for one in _declared(node)}
        elif node.type in ("struct_specifier", "union_specifier", "enum_specifier") and node.child_by_field_name(
            "body"
        ):
            found |= {text_of(one) for one in node.children if one.type == "type_identifier"}
        elif node.type in ("enumerator", "preproc_def", "preproc_function_def"):
            found.add(text_of(node.child_by_field_name("name")))
        elif node.type == "type_definition":
            found |= {text_of(one) for one in _declared(node)}
        elif node.type == "labeled_statement":
            found.add(text_of(node.child_by_field_name("label")))
    return frozenset(found)


def _declared(node: Any) -> Iterator[Any]:
    stack = list(node.children_by_field_name("declarator"))
    while stack:
        one = stack.pop()
        if one.type in _NAMES:
            yield one
        else:
            inner = one.child_by_field_name("declarator")
            stack += [inner] if inner is not None else [kid for kid in one.named_children if "declarator" in kid.type]


def _nameless(form: Form) -> str:
    """The form as text, with every name of the program's own as `$`."""
    if isinstance(form, str):
        return "$" if form.startswith("$") else form
    return "(" + " ".join(_nameless(part) for part in form) + ")"


def _numbered(form: Form, numbers: dict[str, str]) -> Form:
    if isinstance(form, str):
        return numbers.setdefault(form, f"${len(numbers)}") if form.startswith("$") else form
    return tuple(_numbered(part, numbers) for part in form)


class _Reader:
    """Turns nodes of the tree into forms."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own

    def top(self, node: Any) -> Form:
        """A thing at the top of a file; nothing for includes, declarations of functions, and words around the code."""
        declares = node.type == "declaration" and any(one.type == "function_declarator" for one in walk(node))
        if declares or (node.has_error and node.type != "function_definition"):
            return ()
        if node.type == "preproc_def" and node.child_by_field_name("value") is None:
            return ()
        return self.form(node) if node.type in _TOP else ()

    def form(self, node: Any) -> Form:
        """The form of a node."""
        special = getattr(self, f"_{node.type}", None)
        if special is not None:
            return special(node)
        if node.type in _NAMES:
            name = text_of(node)
            return f"${name}" if name in self._own else name
        if not node.children:
            return text_of(node)
        kids = [self.form(one) for one in node.children if one.type not in ("comment", ";", ",", "{", "}", "(", ")")]
        return (node.type, *kids)

    # -- expressions

    def _null(self, node: Any) -> Form:
        return "0"

    def _false(self, node: Any) -> Form:
        return "0"

    def _true(self, node: Any) -> Form:
        return "1"

    def _number_literal(self, node: Any) -> Form:
        text = text_of(node).rstrip("uUlL")
        try:
            return str(int(text, 0))
        except ValueError:
            return text

    def _parenthesized_expression(self, node: Any) -> Form:
        kids = [one for one in node.named_children if one.type != "comment"]
        return self.form(kids[0]) if len(kids) == 1 else ("(", *map(self.form, kids))

    def _binary_expression(self, node: Any) -> Form:
        sign = text_of(node.child_by_field_name("operator"))
        left, right = self.form(node.child_by_field_name("left")), self.form(node.child_by_field_name("right"))
        if sign in _MIRRORED:
            sign, left, right = _MIRRORED[sign], right, left
        if sign in ("==", "!=") and "0" in (left, right):
            other = right if left == "0" else left
            return ("not", other) if sign == "==" else ("is", other)
        if sign in _EITHER_WAY:
            left, right = sorted((left, right), key=_nameless)
        return (sign, left, right)

    def _unary_expression(self, node: Any) -> Form:
        sign, inner = text_of(node.child_by_field_name("operator")), self.form(node.child_by_field_name("argument"))
        return _opposite(inner) if sign == "!" else (sign, inner)

    def _field_expression(self, node: Any) -> Form:
        of, name = self.form(node.child_by_field_name("argument")), self.form(node.child_by_field_name("field"))
        if text_of(node.child_by_field_name("operator")) == "->":
            of = ("*", of)
        return (".", of, name)

    def _pointer_expression(self, node: Any) -> Form:
        sign, inner = text_of(node.child_by_field_name("operator")), self.form(node.child_by_field_name("argument"))
        return (sign, inner)

    def _subscript_expression(self, node: Any) -> Form:
        return ("[]", *(self.form(one) for one in node.named_children))

    def _assignment_expression(self, node: Any) -> Form:
        sign = text_of(node.child_by_field_name("operator"))
        left, right = self.form(node.child_by_field_name("left")), self.form(node.child_by_field_name("right"))
        if sign != "=":
            sign, right = "=", _sum(sign[:-1], left, right)
        return ("=", left, right)

    def _update_expression(self, node: Any) -> Form:
        inner = self.form(node.child_by_field_name("argument"))
        sign = text_of(node.child_by_field_name("operator"))[0]
        changed = ("=", inner, _sum(sign, inner, "1"))
        before = node.children[0].type in ("++", "--")
        alone = node.parent is not None and node.parent.type in ("expression_statement", "for_statement")
        return changed if before or alone else ("then", changed)

    def _conditional_expression(self, node: Any) -> Form:
        names = ("condition", "consequence", "alternative")
        return _choice(*(self.form(node.child_by_field_name(name)) for name in names))

    # -- statements

    def _comment(self, node: Any) -> Form:
        return ()

    def _expression_statement(self, node: Any) -> Form:
        kids = [self.form(one) for one in node.named_children if one.type != "comment"]
        return kids[0] if kids else ()

    def _compound_statement(self, node: Any) -> Form:
        kids = [self.form(one) for one in node.named_children]
        flat: list[Form] = []
        for kid in kids:
            if kid and kid[0] == "block":
                flat += kid[1:]
            elif kid:
                flat.append(kid)
        flat = _joined(flat)
        return flat[0] if len(flat) == 1 else ("block", *flat)

    def _declaration(self, node: Any) -> Form:
        """Assignments of what is declared with a value; a declaration alone does nothing, but its type counts."""
        kind = tuple(self.form(one) for one in node.children if one not in node.children_by_field_name("declarator"))
        sets = []
        for one in node.children_by_field_name("declarator"):
            if one.type == "init_declarator":
                target, value = one.child_by_field_name("declarator"), one.child_by_field_name("value")
                sets.append(("=", self.form(_innermost(target)), self.form(value)))
        outside = node.parent is not None and node.parent.type == "translation_unit"
        volatile = any("volatile" in _nameless(part) or "static" in _nameless(part) for part in kind)
        if outside or volatile:
            names = [self.form(one) for one in _declared(node)]
            return ("declare", *(part for part in kind if part != ";"), *names, *sets)
        return sets[0] if len(sets) == 1 else ("block", *sets) if sets else ()

    def _if_statement(self, node: Any) -> Form:
        test = self.form(node.child_by_field_name("condition"))
        yes, other = self.form(node.child_by_field_name("consequence")), node.child_by_field_name("alternative")
        no: Form = self.form(other) if other is not None else ()
        if no and _negated(test):
            test, yes, no = _opposite(test), no, yes
        if _returns(yes) and _returns(no):
            return ("return", _choice(test, yes[1], no[1]))
        return ("if", _truth(test), yes, no)

    def _else_clause(self, node: Any) -> Form:
        return self.form(next(one for one in node.named_children if one.type != "comment"))

    def _while_statement(self, node: Any) -> Form:
        test, body = self.form(node.child_by_field_name("condition")), self.form(node.child_by_field_name("body"))
        return ("for", () if test == "1" else _truth(test), (), body)

    def _for_statement(self, node: Any) -> Form:
        parts = {name: node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")}
        start, test, step, body = (self.form(one) if one is not None else () for one in parts.values())
        loop = ("for", () if test == "1" else _truth(test) if test else (), step, body)
        return ("block", start, loop) if start else loop

    def _return_statement(self, node: Any) -> Form:
        return ("return", *(self.form(one) for one in node.named_children))


def _sum(sign: str, left: Form, right: Form) -> Form:
    if sign in _EITHER_WAY:
        left, right = sorted((left, right), key=_nameless)
    return (sign, left, right)


def _innermost(target: Any) -> Any:
    while target.type.endswith("declarator") and target.named_children:
        target = target.child_by_field_name("declarator") or target.named_children[-1]
    return target


def _negated(test: Form) -> bool:
    return isinstance(test, tuple) and bool(test) and test[0] in ("not", "!=", "<=")


def _opposite(form: Form) -> Form:
    if isinstance(form, tuple) and form:
        if form[0] in ("not", "is"):
            return ("is" if form[0] == "not" else "not", form[1])
        if form[0] in ("==", "!="):
            return (_OPPOSITE[form[0]], *form[1:])
        if form[0] in ("<", "<="):
            return (_OPPOSITE[form[0]], form[2], form[1])
    return ("not", form)


def _truth(test: Form) -> Form:
    """A condition: `p != NULL` is `p`."""
    return test[1] if isinstance(test, tuple) and test and test[0] == "is" else test


def _returns(form: Form) -> bool:
    return isinstance(form, tuple) and len(form) == 2 and form[0] == "return"


def _joined(statements: list[Form]) -> list[Form]:
    """`if (c) return a; return b;` is one return."""
    if len(statements) > 1 and _returns(statements[-1]):
        last = statements[-2]
        if last[0] == "if" and _returns(last[2]) and not last[3]:
            choice = ("return", _choice(last[1], last[2][1], statements[-1][1]))
            return _joined([*statements[:-2], choice])
    return statements


def _choice(test: Form, yes: Form, no: Form) -> Form:
    """`test ? yes : no`; the greater and the lesser of two, however it is written."""
    test = _truth(test)
    if _negated(test):
        test, yes, no = _opposite(test), no, yes
    if isinstance(test, tuple) and test and test[0] == "<" and {yes, no} == {test[1], test[2]} and yes != no:
        both = sorted((yes, no), key=_nameless)
        return ("lesser" if yes == test[1] else "greater", *both)
    return ("?", test, yes, no)
