"""Structure: a JSON value has the shape of a generated type, or it is refused.

Nothing here needs a change when you add a tool: it reads the types that BAML generates. A kind of
type that is not known here fits no value, so that what cannot be verified is refused.
"""

from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel

from .errors import Refused
from .readable import short
from .strict_json import MAX_INTEGER, exact_number, is_numeral

Names = Mapping[str, str]
"""What the model writes for "Class.field" or "Enum.MEMBER" where that has an @alias."""


_NUMBERS = {int, float}
_UNIONS = (Union, UnionType)
_WORDS = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


def fit(value: Any, annotation: Any, names: Names, path: str = "") -> Any:
    """A JSON value as the type has it, or Refused with what the model should write instead.

    A field that is null is left out, and a numeral in quotes becomes its number where a text
    cannot be meant; nothing else changes. path: where the value stands, such as `issue.labels`.
    """
    annotation = unchecked(annotation)
    if get_origin(annotation) in _UNIONS:
        return _fit_union(value, annotation, names, path)
    if not _is_kind(value, annotation, names):
        raise Refused(f"{path} is {short(value)}; write {_wanted(annotation, names)}")
    if is_class(annotation):
        return _fit_class(value, annotation, names, path)
    if get_origin(annotation) is list:
        (item,) = get_args(annotation)
        return [fit(each, item, names, f"{path}.{i}") for i, each in enumerate(value)]
    if get_origin(annotation) is dict:
        key, item = get_args(annotation)
        at = {each: f"{path}.{each[:40]}" for each in value}
        return {fit(k, key, names, at[k]): fit(v, item, names, at[k]) for k, v in value.items()}
    if annotation in _NUMBERS:
        return _fit_number(value, annotation, path)
    return value


def said(value: Any, names: Names) -> Any:
    """What a typed value says, as the model writes it: the reverse of `fit`."""
    if isinstance(value, BaseModel) and unchecked(type(value)) is not type(value):
        return said(cast(Any, value).value, names)
    if isinstance(value, BaseModel):
        wire = wire_of(type(value), names)
        given = {name: each for name, each in value if each is not None}
        return {wire[name]: said(each, names) for name, each in given.items()}
    if isinstance(value, Enum):
        return names.get(f"{type(value).__name__}.{value.name}", value.value)
    if isinstance(value, dict):
        return {said(key, names): said(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [said(each, names) for each in value]
    return value


def _fit_class(value: dict[str, Any], cls: type[BaseModel], names: Names, path: str) -> Any:
    at = f"{path}." if path else ""
    fields = {wire: cls.model_fields[name] for name, wire in wire_of(cls, names).items()}
    given = {name: each for name, each in value.items() if each is not None}
    for name in given:
        if name not in fields:
            raise Refused(f"{at}{name[:40]} is no field here; there are {', '.join(fields)}")
    for name, field in fields.items():
        if field.is_required() and name not in given:
            raise Refused(f"{at}{name} is missing; write {_wanted(field.annotation, names)}")
    return {
        name: fit(given[name], field.annotation, names, f"{at}{name}")
        for name, field in fields.items()
        if name in given
    }


def _fit_union(value: Any, union: Any, names: Names, path: str) -> Any:
    """The value as the first member that it fits; as text rather than as a number in quotes."""
    kinds = [each for each in members_of(union) if _is_kind(value, each, names)]
    if isinstance(value, str):
        kinds.sort(key=lambda member: member in _NUMBERS)
    elif isinstance(value, float):
        kinds.sort(key=lambda member: member is int)
    if len(kinds) == 1:
        return fit(value, kinds[0], names, path)
    for member in kinds:
        try:
            return fit(value, member, names, path)
        except Refused:
            continue
    raise Refused(f"{path} is {short(value)}; write {_wanted(union, names)}")


def _fit_number(value: Any, annotation: Any, path: str) -> int | float:
    number = exact_number(value) if isinstance(value, str) else value
    if annotation is int and (number != int(number) or abs(number) > MAX_INTEGER):
        raise Refused(f"{path} is {short(value)}; write a whole number")
    return int(number) if annotation is int else cast(float, number)


def _is_kind(value: Any, annotation: Any, names: Names) -> bool:
    """Whether a value is of a type's kind; what a list or an object holds is not looked at."""
    annotation = unchecked(annotation)
    origin = get_origin(annotation)
    if annotation in _NUMBERS:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number or (isinstance(value, str) and is_numeral(value))
    if annotation in {str, bool, NoneType}:
        return isinstance(value, annotation)
    if origin is list:
        return isinstance(value, list)
    if origin is dict or is_class(annotation):
        return isinstance(value, dict)
    choices = choices_of(annotation, names)
    return any(type(value) is type(each) and value == each for each in choices)


def unchecked(annotation: Any) -> Any:
    """The type of a field's value: BAML wraps that of a field with a @check."""
    generic = getattr(annotation, "__pydantic_generic_metadata__", {}).get("origin")
    if generic is not None and generic.__name__ == "Checked":
        return annotation.model_fields["value"].annotation
    return annotation


def members_of(annotation: Any) -> list[Any]:
    """The members of a union; of any other type, itself."""
    annotation = unchecked(annotation)
    if get_origin(annotation) not in _UNIONS:
        return [annotation]
    return [member for each in get_args(annotation) for member in members_of(each)]


def is_class(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def choices_of(annotation: Any, names: Names) -> list[Any]:
    """What may be written for a literal or an enum; nothing for any other type."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [said(each, names) for each in annotation]
    return []


def wire_of(cls: type[BaseModel], names: Names) -> dict[str, str]:
    """Each field of a class, and what the model writes for it."""
    cls.model_rebuild()  # one that holds itself does not know its own name yet
    return {name: names.get(f"{cls.__name__}.{name}", name) for name in cls.model_fields}


def _wanted(annotation: Any, names: Names) -> str:
    """What to write for a type, in the words of an error message."""
    members = members_of(annotation)
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
