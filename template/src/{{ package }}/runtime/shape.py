"""Structure: a JSON value has the shape of a generated type, or it is refused.

Nothing here needs a change when you add a tool: it reads the types that BAML generates. A kind of
type that is not known here fits no value, so that what cannot be verified is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel

from .errors import Refused
from .readable import short
from .strict_json import MAX_INTEGER, exact_number, is_numeral

_NUMBERS = (int, float)
_WORDS = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, eq=False)
class Names:
    """What the model writes for "Class.field" or "Enum.MEMBER" where that has an @alias."""

    aliases: Mapping[str, str]

    def field(self, cls: type, name: str) -> str:
        """What the model writes for a field of a class."""
        return self.aliases.get(f"{cls.__name__}.{name}", name)

    def member(self, member: Enum) -> Any:
        """What the model writes for a value of an enum."""
        return self.aliases.get(f"{type(member).__name__}.{member.name}", member.value)


@dataclass(frozen=True)
class Field:
    """A field of a class: what it may hold (see `members_of`), and whether it may be left out."""

    members: tuple[Any, ...]
    required: bool
    description: str | None


def fit(value: Any, members: tuple[Any, ...], names: Names, path: str = "") -> Any:
    """A JSON value as a type has it, or Refused with what the model should write instead.

    A field that is null is left out, and a numeral in quotes becomes its number where a text
    cannot be meant; nothing else changes. members: the type, as `members_of` gives it.
    path: where the value stands, such as `issue.labels`.
    """
    kinds = [member for member in members if _is_kind(value, member, names)]
    if len(kinds) == 1:
        return _fit_one(value, kinds[0], names, path)
    if isinstance(value, str):
        kinds.sort(key=lambda member: member in _NUMBERS)  # "5" is a text where it can be one
    elif isinstance(value, float):
        kinds.sort(key=lambda member: member is int)
    for member in kinds:
        try:
            return _fit_one(value, member, names, path)
        except Refused:
            continue
    raise Refused(f"{path} is {short(value)}; write {_wanted(members, names)}")


def said(value: Any, names: Names) -> Any:
    """What a typed value says, as the model writes it: the reverse of `fit`."""
    if isinstance(value, BaseModel):
        if _is_checked(type(value)):
            return said(cast(Any, value).value, names)
        wire = wire_of(type(value), names)
        return {wire[name]: said(each, names) for name, each in value if each is not None}
    if isinstance(value, Enum):
        return names.member(value)
    if isinstance(value, dict):
        return {said(key, names): said(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [said(each, names) for each in value]
    return value


@cache
def members_of(annotation: Any) -> tuple[Any, ...]:
    """The types that a value may have: the members of a union, or the one type itself."""
    if _is_checked(annotation):
        return members_of(annotation.model_fields["value"].annotation)
    if get_origin(annotation) not in (Union, UnionType):
        return (annotation,)
    return tuple(member for each in get_args(annotation) for member in members_of(each))


@cache
def wire_of(cls: type[BaseModel], names: Names) -> dict[str, str]:
    """Each field of a class, and what the model writes for it."""
    cls.model_rebuild()  # a class that holds itself does not know its own name yet
    return {name: names.field(cls, name) for name in cls.model_fields}


@cache
def fields_of(cls: type[BaseModel], names: Names) -> dict[str, Field]:
    """What the model may write for a class, by the names that it uses."""
    found = {}
    for name, wire in wire_of(cls, names).items():
        field = cls.model_fields[name]
        members = members_of(cast(Any, field.annotation))
        found[wire] = Field(members, field.is_required(), field.description)
    return found


def is_class(member: Any) -> bool:
    """Whether a type is a class of the schema."""
    return isinstance(member, type) and issubclass(member, BaseModel)


def choices_of(member: Any, names: Names) -> list[Any]:
    """What may be written for a literal or an enum; nothing for any other type."""
    if get_origin(member) is Literal:
        return list(get_args(member))
    if isinstance(member, type) and issubclass(member, Enum):
        return [names.member(each) for each in member]
    return []


def _is_kind(value: Any, member: Any, names: Names) -> bool:
    """Whether a value is of a type's kind; what a list or an object holds is not looked at."""
    if member in _NUMBERS:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number or (isinstance(value, str) and is_numeral(value))
    if member in (str, bool, NoneType):
        return isinstance(value, member)
    if is_class(member) or get_origin(member) is dict:
        return isinstance(value, dict)
    if get_origin(member) is list:
        return isinstance(value, list)
    choices = choices_of(member, names)
    return any(type(value) is type(each) and value == each for each in choices)


def _fit_one(value: Any, member: Any, names: Names, path: str) -> Any:
    """A value of a type's kind as that type has it."""
    if member in _NUMBERS:
        return _fit_number(value, member, path)
    if isinstance(value, dict) and is_class(member):
        return _fit_class(value, member, names, f"{path}." if path else "")
    if isinstance(value, dict):
        key, item = map(members_of, get_args(member))
        at = {each: f"{path}.{each[:40]}" for each in value}
        return {fit(k, key, names, at[k]): fit(v, item, names, at[k]) for k, v in value.items()}
    if isinstance(value, list):
        items = members_of(get_args(member)[0])
        return [fit(each, items, names, f"{path}.{i}") for i, each in enumerate(value)]
    return value


def _fit_class(value: dict[str, Any], cls: type[BaseModel], names: Names, at: str) -> Any:
    fields = fields_of(cls, names)
    given = {name: each for name, each in value.items() if each is not None}
    for name in given:
        if name not in fields:
            raise Refused(f"{at}{name[:40]} is no field here; there are {', '.join(fields)}")
    for name, field in fields.items():
        if field.required and name not in given:
            raise Refused(f"{at}{name} is missing; write {_wanted(field.members, names)}")
    return {
        name: fit(given[name], field.members, names, at + name)
        for name, field in fields.items()
        if name in given
    }


def _fit_number(value: Any, member: Any, path: str) -> int | float:
    number = exact_number(value) if isinstance(value, str) else value
    if member is int and (number != int(number) or abs(number) > MAX_INTEGER):
        raise Refused(f"{path} is {short(value)}; write a whole number")
    return int(number) if member is int else cast(float, number)


def _is_checked(annotation: Any) -> bool:
    """Whether BAML wrapped a field's type, as it does for a @check."""
    generic = getattr(annotation, "__pydantic_generic_metadata__", {}).get("origin")
    return generic is not None and generic.__name__ == "Checked"


def _wanted(members: tuple[Any, ...], names: Names) -> str:
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
