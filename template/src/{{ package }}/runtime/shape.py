"""The generated types, as the guard reads them: fields, and what each may hold.

Nothing here needs a change when you add a tool. A kind of type that is not known here fits no
value, so that what cannot be verified is refused.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, ForwardRef, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel

from ..baml_client import types as schema_types
from .errors import SettingsError
from .readable import short

_PLAIN = {str, int, float, bool, NoneType}
_WORDS = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, eq=False)
class Names:
    """What the model writes.

    aliases: for "Class.field" or "Enum.MEMBER", where that has an @alias. skipped: each
    "Enum.MEMBER" with a @skip, which the model is not shown and may not write.
    """

    aliases: Mapping[str, str]
    skipped: Collection[str] = ()

    def field(self, cls: type, name: str) -> str:
        """What the model writes for a field of a class."""
        return self.aliases.get(f"{cls.__name__}.{name}", name)

    def member(self, member: Enum) -> Any:
        """What the model writes for a value of an enum."""
        return self.aliases.get(f"{type(member).__name__}.{member.name}", member.value)


@dataclass(frozen=True)
class Field:
    """A field of a class: what it may hold (see `members_of`), and whether it may be left out.

    has_check: it has a @check; BAML then wants a null where it is left out.
    """

    members: tuple[Any, ...]
    required: bool
    has_check: bool
    description: str | None


def said(value: Any, names: Names) -> Any:
    """What a typed value says, as the model writes it, with null for a field that was left out.

    Without its nulls an object may say less than it did: they can tell one class from another.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, BaseModel):
        if _is_checked(type(value)):
            return said(cast(Any, value).value, names)
        wire = wire_of(type(value), names)
        return {wire[name]: said(each, names) for name, each in value}
    if isinstance(value, Enum):
        return names.member(value)
    if isinstance(value, dict):
        return {said(key, names): said(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [said(each, names) for each in value]
    return value


def says(value: Any, meant: Any, names: Names) -> bool:
    """Whether a typed value says just what was meant, and null where nothing was written.

    meant: as the model writes it; see `said`.
    """
    kind: Any = type(value)
    if kind in _PLAIN:  # 12 and 12.0 are the same number, True and 1 are not
        return bool(value == meant) and (kind is bool) == (type(meant) is bool)
    if isinstance(value, BaseModel):
        if _is_checked(kind):
            return says(cast(Any, value).value, meant, names)
        known = isinstance(meant, dict) and meant.keys() <= fields_of(kind, names).keys()
        got, wires = vars(value), wire_of(kind, names).items()
        return known and all(says(got.get(n), meant.get(wire), names) for n, wire in wires)
    if isinstance(value, dict) and isinstance(meant, dict):
        keys = {said(key, names): key for key in value}
        same = keys.keys() == meant.keys()
        return same and all(says(value[keys[key]], each, names) for key, each in meant.items())
    if isinstance(value, list) and isinstance(meant, list):
        pairs = zip(value, meant, strict=False)
        return len(value) == len(meant) and all(says(one, other, names) for one, other in pairs)
    return bool(said(value, names) == meant)


@cache
def members_of(annotation: Any) -> tuple[Any, ...]:
    """What a value may be: the types of a union or the one type, and the values of a literal."""
    if isinstance(annotation, ForwardRef):  # a class that holds itself, or within a @check
        found = getattr(schema_types, annotation.__forward_arg__, None)
        annotation = found if is_class(found) else annotation
    if _is_checked(annotation):
        return members_of(annotation.model_fields["value"].annotation)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) not in (Union, UnionType):
        return (annotation,)
    return tuple(member for each in get_args(annotation) for member in members_of(each))


@cache
def wire_of(cls: type[BaseModel], names: Names) -> dict[str, str]:
    """Each field of a class, and what the model writes for it."""
    return {name: names.field(cls, name) for name in cls.model_fields}


@cache
def fields_of(cls: type[BaseModel], names: Names) -> dict[str, Field]:
    """What the model may write for a class, by the names that it uses."""
    found = {}
    for name, wire in wire_of(cls, names).items():
        field = cls.model_fields[name]
        members = members_of(cast(Any, field.annotation))
        required = field.is_required() and NoneType not in members
        if wire in found:
            raise SettingsError(f"baml_src: two fields of {cls.__name__} are written {wire!r}")
        found[wire] = Field(members, required, _is_checked(field.annotation), field.description)
    return found


def is_class(member: Any) -> bool:
    """Whether a type is a class of the schema."""
    return isinstance(member, type) and issubclass(member, BaseModel)


def is_known(member: Any) -> bool:
    """Whether it is a kind of type whose values can be verified."""
    is_enum = isinstance(member, type) and issubclass(member, Enum)
    return member in _PLAIN or is_literal(member) or is_container(member) or is_enum


def is_container(member: Any) -> bool:
    """Whether values of a type hold other values."""
    return is_class(member) or get_origin(member) in (list, dict)


def is_literal(member: Any) -> bool:
    """Whether it is a value of a literal rather than a type."""
    return isinstance(member, str | int)


def choices_of(member: Any, names: Names) -> list[Any]:
    """What may be written for a value of a literal or an enum; nothing for any other type."""
    if is_literal(member):
        return [member]
    if not isinstance(member, type) or not issubclass(member, Enum):
        return []
    shown = [each for each in member if f"{member.__name__}.{each.name}" not in names.skipped]
    choices = [names.member(each) for each in shown]
    if len(set(choices)) < len(choices):
        raise SettingsError(f"baml_src: two values of {member.__name__} are written the same")
    return choices


def _is_checked(annotation: Any) -> bool:
    """Whether BAML wrapped a field's type, as it does for a @check."""
    generic = getattr(annotation, "__pydantic_generic_metadata__", {}).get("origin")
    return generic is not None and generic.__name__ == "Checked"


def wanted(members: tuple[Any, ...], names: Names) -> str:
    """What to write for a type, in the words of an error message."""
    wanted = []
    for member in members:
        if get_origin(member) is list:
            wanted.append("a list")
        elif get_origin(member) is dict or is_class(member):
            wanted.append("an object")
        elif member is not int or float not in members:
            choices = [short(each) for each in choices_of(member, names)]
            wanted += [_WORDS[member]] if member in _WORDS else choices
    return " or ".join(dict.fromkeys(wanted)) or "it as the schema says"
