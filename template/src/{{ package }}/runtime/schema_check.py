"""A schema that could not be kept to is an error at the start, in one line, and not on the way."""

from collections.abc import Iterable
from enum import Enum
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from .errors import SettingsError
from .schema_source import Source
from .shape import Names, choices_of, fields_of, is_class, is_known, is_literal, members_of


def require_readable(tools: Iterable[type[BaseModel]], names: Names, source: Source) -> None:
    """Raise SettingsError if a tool, or a class that it holds, cannot be read exactly."""
    if source.dropped_asserts:
        where = source.dropped_asserts[0]
        problem = f"BAML may drop the @assert of {where}, in a union or a type alias"
        raise SettingsError(f"baml_src: {problem}; check it in policy.py instead")
    if source.unclear and source.has_rules:
        problem = f"the text of {source.unclear[0]} is not in quotes, or has a backslash"
        raise SettingsError(f"baml_src: {problem}; write it in quotes, without one")
    if source.has_checks and (taken := {"Check", "Checked"} & source.fields.keys()):
        raise SettingsError(f"baml_src: BAML needs the name {taken.pop()} for a @check; rename it")
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
    for name, field in fields_of(cls, names).items():  # which finds names that stand twice
        _check_members(field.members, f"{cls.__name__}.{name}", names, source, seen)


def _check_members(
    members: tuple[Any, ...], where: str, names: Names, source: Source, seen: set[type[BaseModel]]
) -> None:
    """Look at what a field may hold, or what a list or a map within it may."""
    truths = [each for each in members if each is bool or isinstance(each, bool)]
    literal = any(is_literal(each) for each in members)
    numbers = [each for each in members if each in (int, float) or type(each) is int]
    if literal and truths and numbers:
        raise SettingsError(f"baml_src: {where} mixes true or false with numbers; keep them apart")
    maps = [get_args(each)[0] for each in members if get_origin(each) is dict]
    if source.has_rules and len(maps) > 1 and any(key is not str for key in maps):
        raise SettingsError(f"baml_src: BAML cannot tell the maps of {where} apart; keep one")
    for member in members:
        _check_member(member, where, names, source, seen)


def _check_member(
    member: Any, where: str, names: Names, source: Source, seen: set[type[BaseModel]]
) -> None:
    if is_class(member):
        _check_class(member, names, source, seen)
    if member is Any:  # as BAML makes of a tuple, which it cannot show to a model
        raise SettingsError(f"baml_src: {where} has a type that BAML cannot show; use a class")
    if not is_known(member):  # as a type alias that holds itself, or a picture
        problem = f"{where} has a type whose values cannot be verified"
        raise SettingsError(f"baml_src: {problem}; use plain types, enums, classes, lists or maps")
    choices_of(member, names)
    if get_origin(member) is dict and _has_aliases(get_args(member)[0], names):
        raise SettingsError(
            f"baml_src: BAML reads no map whose keys are {get_args(member)[0].__name__},"
            " which has an @alias; take it away"
        )
    for inner in get_args(member) if get_origin(member) in (list, dict) else ():
        _check_members(members_of(inner), where, names, source, seen)


def _has_aliases(key: Any, names: Names) -> bool:
    if not isinstance(key, type) or not issubclass(key, Enum):
        return False
    return any(names.member(each) != each.value for each in key)
