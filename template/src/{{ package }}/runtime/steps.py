"""The union `Tools` of baml_src/tools.baml as Python sees it.

Nothing here needs a change when you add a tool: it reads the generated types.
"""

import hashlib
import json
from functools import cache
from typing import Any, ForwardRef, Literal, TypeAlias, cast, get_args, get_origin

from pydantic import BaseModel

from ..baml_client import types
from .errors import SettingsError

NextStep: TypeAlias = types.Tools
Effect = Literal["pure", "idempotent", "ask_human"]


@cache
def tool_classes() -> dict[str, type[BaseModel]]:
    """Each intent and its class, in the order of the union.

    Raises SettingsError for a class without an intent, or with that of another.
    """
    found: dict[str, type[BaseModel]] = {}
    for member in get_args(types.Tools) or (types.Tools,):
        cls = _resolve(member)
        if not isinstance(cls, type) or not issubclass(cls, BaseModel):
            raise SettingsError(f"baml_src: {member} in the union Tools is no class; take it out")
        intent = _intent(cls)
        if intent in found:
            problem = f"{cls.__name__} and {found[intent].__name__} have the intent {intent!r}"
            raise SettingsError(f"baml_src: {problem}; give each tool its own")
        found[intent] = cls
    return found


def _intent(cls: type[BaseModel]) -> str:
    field = cls.model_fields.get("intent")
    of = field.annotation if field else None
    choices = get_args(of) if get_origin(of) is Literal else ()
    if len(choices) != 1 or not isinstance(choices[0], str):
        problem = f"{cls.__name__} is no tool: its intent is not one text, without a @check"
        raise SettingsError(f'baml_src: {problem}; write it as in: intent "do_this"')
    return choices[0]


def call_hash(call: dict[str, Any]) -> str:
    """What an approval is bound to: SHA-256, in hex, of compact JSON with sorted keys."""
    text = json.dumps(call, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _resolve(member: Any) -> type[BaseModel]:
    # A union of one member is that member; a member not resolved yet is its name.
    name = member.__forward_arg__ if isinstance(member, ForwardRef) else member
    return cast(type[BaseModel], getattr(types, name) if isinstance(name, str) else name)
