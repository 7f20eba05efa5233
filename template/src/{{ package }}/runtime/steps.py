"""The union `Tools` of baml_src/tools.baml as Python sees it.

Nothing here needs a change when you add a tool: it reads the generated types.
"""

import hashlib
import json
from functools import cache
from typing import Any, ForwardRef, Literal, TypeAlias, cast, get_args

from pydantic import BaseModel

from ..baml_client import types

NextStep: TypeAlias = types.Tools
Effect = Literal["pure", "idempotent", "ask_human"]


@cache
def tool_classes() -> dict[str, type[BaseModel]]:
    """Each intent and its class, in the order of the union."""
    classes = [_resolve(member) for member in get_args(types.Tools) or (types.Tools,)]
    return {get_args(cls.model_fields["intent"].annotation)[0]: cls for cls in classes}


def call_hash(call: dict[str, Any]) -> str:
    """What an approval is bound to: SHA-256, in hex, of compact JSON with sorted keys."""
    text = json.dumps(call, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _resolve(member: Any) -> type[BaseModel]:
    # A union of one member is that member; a member not resolved yet is its name.
    name = member.__forward_arg__ if isinstance(member, ForwardRef) else member
    return cast(type[BaseModel], getattr(types, name) if isinstance(name, str) else name)
