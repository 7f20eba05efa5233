"""Structure: a JSON object has the shape of a tool's class, or it is refused.

Nothing here needs a change when you add a tool: it follows the types that BAML generates.
"""

import json
from types import NoneType
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel

from .errors import Refused
from .readable import short
from .shape import Names, choices_of, fields_of, is_class, is_container, members_of, wanted
from .strict_json import MAX_INTEGER, exact_number, is_numeral

MOST_WORK = 60_000  # that a reply may be for BAML; a unit takes it about a microsecond
FIELD = 20  # units for a field of a class, whether it is written or not


class TooMuchWork(Refused):
    """A value that would take BAML too long to read."""


def fit(
    value: dict[str, Any], cls: type[BaseModel], names: Names, most_work: int = MOST_WORK
) -> dict[str, Any]:
    """A JSON object as a class has it, or Refused with what the model should write instead.

    A numeral in quotes becomes its number where a text cannot be meant, and a null of a field that
    the class does not have is left out. Nothing else changes.
    """
    return _Fitting(names, most_work).object(value, cls, "", weight=1)


class _Fitting:
    """One reading of a reply.

    path: where a value stands, such as `issue.labels`. weight: how many ways lead to a value, since
    BAML tries each class of a union, at every level.
    """

    def __init__(self, names: Names, most_work: int) -> None:
        self.names = names
        self.most_work = most_work
        self.work = 0
        self.changes = 0  # made to the reply; the member of a union that needs fewest is meant

    def value(self, value: Any, members: tuple[Any, ...], path: str, weight: int) -> Any:
        """A value as the one of these types that it fits best."""
        if type(value) in members or (type(value) is str and value in members):
            # A text where a text may be, and so on; or the very text of a literal.
            self.work += weight
            return value
        weight *= sum(1 for each in members if is_container(each)) or 1
        self.spend(weight, path)
        kinds = [each for each in members if self.is_kind(value, each)]
        if len(kinds) == 1:
            return self.one(value, kinds[0], path, weight)
        if fitting := self.fitting(value, kinds, path, weight):
            changes, best = min(fitting, key=lambda each: each[0])  # the first of equals
            self.changes += changes
            return best
        if classes := [each for each in kinds if is_class(each)]:
            # Not any of them: say why not the one that was most likely meant.
            meant = max(classes, key=lambda cls: self.likeness(cast(Any, value), cls))
            return self.one(value, meant, path, weight)
        raise Refused(f"{where(path)} is {short(value)}; write {wanted(members, self.names)}")

    def fitting(
        self, value: Any, kinds: list[Any], path: str, weight: int
    ) -> list[tuple[int, Any]]:
        """The value as the types that it fits, until one takes no change, with the changes."""
        found = []
        before = self.changes
        for member in kinds:
            try:
                fitted = self.one(value, member, path, weight)
                found.append((self.changes - before, fitted))
            except TooMuchWork:
                raise
            except Refused:
                pass  # not this one
            self.changes = before
            if found and found[-1][0] == 0:
                break  # no other can fit better
        return found

    def spend(self, work: int, path: str) -> None:
        """Count what reading costs BAML."""
        self.work += work
        if self.work > self.most_work:
            raise TooMuchWork(f"{where(path)} is too much to read; write less, nested less deeply")

    def is_kind(self, value: Any, member: Any) -> bool:
        """Whether a value is of a type's kind; what a list or an object holds is not looked at."""
        if member is str or member is bool or member is NoneType:
            return isinstance(value, member)
        if member is int or member is float:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number or (isinstance(value, str) and is_numeral(value))
        if is_class(member) or get_origin(member) is dict:
            return isinstance(value, dict)
        if get_origin(member) is list:
            return isinstance(value, list)
        choices = choices_of(member, self.names)
        return any(type(value) is type(each) and value == each for each in choices)

    def one(self, value: Any, member: Any, path: str, weight: int) -> Any:
        """A value of a type's kind as that type has it."""
        if member is int or member is float:
            return self.number(value, member, path)
        if isinstance(value, dict) and is_class(member):
            return self.object(value, member, f"{path}.", weight)
        if isinstance(value, dict):
            keys, items = map(members_of, get_args(member))
            at = {key: f"{path}.{key}" for key in value}
            fitted = {key: self.value(key, keys, at[key], weight) for key in value}
            return {
                fitted[key]: self.value(each, items, at[key], weight) for key, each in value.items()
            }
        if isinstance(value, list):
            items = members_of(get_args(member)[0])
            numbered = enumerate(value)
            return [self.value(each, items, f"{path}.{i}", weight) for i, each in numbered]
        return value

    def number(self, value: Any, member: Any, path: str) -> int | float:
        """A number, as written or within quotes, as a whole one where it has to be."""
        number = exact_number(value) if isinstance(value, str) else value
        if member is int and (number != int(number) or abs(number) > MAX_INTEGER):
            raise Refused(f"{where(path)} is {short(value)}; write a whole number")
        self.changes += isinstance(value, str) or (member is int and isinstance(value, float))
        return int(number) if member is int else cast(float, number)

    def object(
        self, value: dict[str, Any], cls: type[BaseModel], at: str, weight: int
    ) -> dict[str, Any]:
        """An object as a class has it, with those of its fields that were written."""
        fields = fields_of(cls, self.names)
        self.spend(FIELD * len(fields), at)
        for name in [] if value.keys() <= fields.keys() else value:
            if name not in fields and value[name] is not None:
                known = ", ".join(fields)
                raise Refused(f"{where(at + name)} is no field here; there are {known}")
            self.changes += name not in fields
        for name, field in fields.items():
            if field.required and value.get(name) is None:
                needed = wanted(field.members, self.names)
                raise Refused(f"{where(at + name)} is missing; write {needed}")
        return {
            name: None
            if value.get(name) is None
            else self.value(value[name], field.members, at + name, weight)
            for name, field in fields.items()
            if name in value or field.has_check
        }

    def likeness(self, value: dict[str, Any], cls: type[BaseModel]) -> int:
        """How much of an object looks like a class: its names, and more so its literals."""
        fields = fields_of(cls, self.names)
        known = [(name, fields[name].members) for name in value if name in fields]
        literals = [(name, each) for name, members in known for each in members]
        same = [name for name, each in literals if value[name] in choices_of(each, self.names)]
        return len(known) + 10 * len(same)


def where(path: str) -> str:
    """A path for a message: its end, if it is long, and with nothing that steers a terminal."""
    shown = json.dumps(path.rstrip("."))[1:-1]
    return shown if len(shown) <= 60 else f"…{shown[-59:]}"
