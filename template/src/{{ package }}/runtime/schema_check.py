"""A schema that could not be kept to is an error at the start, in one line, and not on the way."""

from collections.abc import Iterable
from enum import Enum
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from .errors import SettingsError
from .schema_source import Source
from .shape import Names, choices_of, fields_of, is_class, members_of


def require_readable(tools: Iterable[type[BaseModel]], names: Names, source: Source) -> None:
    """Raise SettingsError if a tool, or a class that it holds, cannot be read exactly."""
    if source.dropped_asserts:
        where = source.dropped_asserts[0]
        problem = f"BAML may drop the @assert of {where}, in a union or a type alias"
        raise SettingsError(f"baml_src: {problem}; check it in policy.py instead")
    seen: set[type[BaseModel]] = set()
    for cls in tools:
        _check_class(cls, names, source, seen)
        if names.field(cls, "intent") != "intent":
            raise SettingsError(f"baml_src: {cls.__name__} has an @alias on intent; take it away")


def _check_class(
    cls: type[BaseModel], names: Names, source: Source, seen: set[type[BaseModel]]
) -> None:
    if cls in seen:
        return
    seen.add(cls)
    written = source.fields.get(cls.__name__, set())
    if source.aliases and written != set(cls.model_fields):
        problem = f"the fields of {cls.__name__} cannot be told apart"
        raise SettingsError(f"baml_src: {problem}; write each on a line of its own")
    for field in fields_of(cls, names).values():  # which finds names that stand twice
        for member in field.members:
            _check_member(member, names, source, seen)


def _check_member(member: Any, names: Names, source: Source, seen: set[type[BaseModel]]) -> None:
    if is_class(member):
        _check_class(member, names, source, seen)
    choices_of(member, names)
    if get_origin(member) is dict and _has_aliases(get_args(member)[0], names):
        raise SettingsError(
            f"baml_src: BAML reads no map whose keys are {get_args(member)[0].__name__},"
            " which has an @alias; take it away"
        )
    for inner in get_args(member) if get_origin(member) in (list, dict) else ():
        for each in members_of(inner):
            _check_member(each, names, source, seen)


def _has_aliases(key: Any, names: Names) -> bool:
    if not isinstance(key, type) or not issubclass(key, Enum):
        return False
    return any(names.member(each) != each.value for each in key)
