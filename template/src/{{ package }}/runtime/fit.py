"""Structure: a JSON object has the shape of a tool's class, or it is refused.

Nothing here needs a change when you add a tool: it follows the types that BAML generates.
"""

from types import NoneType
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel

from .errors import Refused
from .readable import short
from .shape import Names, choices_of, fields_of, is_class, is_container, members_of, wanted
from .strict_json import MAX_INTEGER, exact_number, is_numeral

MOST_WAYS = 100_000  # of reading a reply; each takes BAML about half a microsecond


class TooManyWays(Refused):
    """A value that would take BAML too long to read."""


def fit(value: dict[str, Any], cls: type[BaseModel], names: Names) -> dict[str, Any]:
    """A JSON object as a class has it, or Refused with what the model should write instead.

    Every field of the class is there, null where it was left out. A numeral in quotes becomes its
    number where a text cannot be meant. Nothing else changes.
    """
    return _Fitting(names).object(value, cls, "", exact=False, weight=1)


class _Fitting:
    """One reading of a reply.

    path: where a value stands, such as `issue.labels`. exact: take no numeral in quotes for a
    number and leave no null out, so that the member of a union that says what is written wins.
    weight: how many ways lead to a value; BAML tries each class of a union, at every level.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.ways = 0

    def value(
        self, value: Any, members: tuple[Any, ...], path: str, exact: bool, weight: int
    ) -> Any:
        """A value as the one of these types that it fits."""
        weight *= sum(1 for each in members if is_container(each)) or 1
        self.ways += weight
        if self.ways > MOST_WAYS:
            raise TooManyWays(f"{path} can be read in too many ways; nest it less deeply")
        kinds = [each for each in members if self.is_kind(value, each, exact)]
        if len(kinds) == 1:
            return self.one(value, kinds[0], path, exact, weight)
        for exactly in (True,) if exact else (True, False):
            for member in kinds:
                if self.is_kind(value, member, exactly):
                    try:
                        return self.one(value, member, path, exactly, weight)
                    except TooManyWays:
                        raise
                    except Refused:
                        continue
        if classes := [each for each in kinds if is_class(each)]:
            # Not any of them: say why not the one that was most likely meant.
            meant = max(classes, key=lambda cls: self.likeness(value, cls))
            return self.one(value, meant, path, exact, weight)
        raise Refused(f"{path} is {short(value)}; write {wanted(members, self.names)}")

    def is_kind(self, value: Any, member: Any, exact: bool) -> bool:
        """Whether a value is of a type's kind; what a list or an object holds is not looked at."""
        if member is str or member is bool or member is NoneType:
            return isinstance(value, member)
        if member is int and exact:
            return isinstance(value, int) and not isinstance(value, bool)
        if member is int or member is float:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number or (not exact and isinstance(value, str) and is_numeral(value))
        if is_class(member) or get_origin(member) is dict:
            return isinstance(value, dict)
        if get_origin(member) is list:
            return isinstance(value, list)
        choices = choices_of(member, self.names)
        return any(type(value) is type(each) and value == each for each in choices)

    def one(self, value: Any, member: Any, path: str, exact: bool, weight: int) -> Any:
        """A value of a type's kind as that type has it."""
        if member is int or member is float:
            return _fit_number(value, member, path)
        if isinstance(value, dict) and is_class(member):
            return self.object(value, member, f"{path}.", exact, weight)
        if isinstance(value, dict):
            keys, items = map(members_of, get_args(member))
            at = {key: f"{path}.{key[:40]}" for key in value}
            fitted = {key: self.value(key, keys, at[key], exact, weight) for key in value}
            return {
                fitted[key]: self.value(each, items, at[key], exact, weight)
                for key, each in value.items()
            }
        if isinstance(value, list):
            items = members_of(get_args(member)[0])
            numbered = enumerate(value)
            return [self.value(each, items, f"{path}.{i}", exact, weight) for i, each in numbered]
        return value

    def object(
        self, value: dict[str, Any], cls: type[BaseModel], at: str, exact: bool, weight: int
    ) -> dict[str, Any]:
        """An object with every field of a class, null where it was left out."""
        fields = fields_of(cls, self.names)
        for name, each in value.items():
            if name not in fields and (exact or each is not None):
                raise Refused(f"{at}{name[:40]} is no field here; there are {', '.join(fields)}")
        for name, field in fields.items():
            if field.required and value.get(name) is None:
                raise Refused(f"{at}{name} is missing; write {wanted(field.members, self.names)}")
        return {
            name: None
            if value.get(name) is None
            else self.value(value[name], field.members, at + name, exact, weight)
            for name, field in fields.items()
        }

    def likeness(self, value: dict[str, Any], cls: type[BaseModel]) -> int:
        """How much of an object looks like a class: its names, and more so its literals."""
        fields = fields_of(cls, self.names)
        known = [(name, fields[name].members) for name in value if name in fields]
        literals = [(name, each) for name, members in known for each in members]
        same = [name for name, each in literals if value[name] in choices_of(each, self.names)]
        return len(known) + 10 * len(same)


def _fit_number(value: Any, member: Any, path: str) -> int | float:
    number = exact_number(value) if isinstance(value, str) else value
    if member is int and (number != int(number) or abs(number) > MAX_INTEGER):
        raise Refused(f"{path} is {short(value)}; write a whole number")
    return int(number) if member is int else cast(float, number)
