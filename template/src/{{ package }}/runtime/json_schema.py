"""The tools as a JSON Schema, for servers that write by one and for readers of `tools --json`."""

from collections.abc import Iterable
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from .shape import Names, choices_of, fields_of, is_class, is_literal, members_of

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def tool_schema(cls: type[BaseModel], names: Names) -> dict[str, Any]:
    """The JSON Schema of one tool's call, with the classes it uses under `$defs`."""
    defs: dict[str, Any] = {}
    schema = _object_schema(cls, names, defs)
    return {**schema, "$defs": defs} if defs else schema


def step_schema(classes: Iterable[type[BaseModel]], names: Names) -> dict[str, Any]:
    """The JSON Schema of any one of these tools' calls."""
    defs: dict[str, Any] = {}
    schema = {"anyOf": [_object_schema(cls, names, defs) for cls in classes]}
    return {**schema, "$defs": defs} if defs else schema


def in_order(value: Any) -> Any:
    """JSON values whose objects BAML sends in this order; of a dict it loses the order, and a
    server that writes by a schema writes the fields in the schema's order.
    """
    if isinstance(value, dict):
        return _Ordered.model_validate({name: in_order(each) for name, each in value.items()})
    return [in_order(each) for each in value] if isinstance(value, list) else value


class _Ordered(BaseModel, extra="allow"):
    """An object with any fields, which BAML takes as a class."""


def _schema(members: tuple[Any, ...], names: Names, defs: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; a kind of type that is not known here allows nothing."""
    schemas = [_member_schema(each, names, defs) for each in members if not is_literal(each)]
    if literals := [each for each in members if is_literal(each)]:
        schemas.append({"enum": literals})
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _member_schema(member: Any, names: Names, defs: dict[str, Any]) -> dict[str, Any]:
    if member in _TYPES:
        return {"type": _TYPES[member]}
    if get_origin(member) is list:
        return {"type": "array", "items": _schema(members_of(get_args(member)[0]), names, defs)}
    if get_origin(member) is dict:
        key, value = get_args(member)
        values = _schema(members_of(value), names, defs)
        keys = [choice for each in members_of(key) for choice in choices_of(each, names)]
        if not keys:
            return {"type": "object", "additionalProperties": values}
        properties = dict.fromkeys(keys, values)
        return {"type": "object", "properties": properties, "additionalProperties": False}
    if is_class(member):
        if member.__name__ not in defs:
            defs[member.__name__] = {}  # a class may hold itself
            defs[member.__name__] = _object_schema(member, names, defs)
        return {"$ref": f"#/$defs/{member.__name__}"}
    return {"enum": choices_of(member, names)}


def _object_schema(cls: type[BaseModel], names: Names, defs: dict[str, Any]) -> dict[str, Any]:
    fields = fields_of(cls, names)
    properties = {}
    for name, field in fields.items():
        described = {"description": field.description} if field.description else {}
        properties[name] = {**_schema(field.members, names, defs), **described}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, field in fields.items() if field.required],
        "additionalProperties": False,
    }
