"""The database that keeps the threads, and the few things that are said to it.

DATABASE_URL says where it is; left out, it is a file in the project's `data` folder. The SQL of
store.py is plain enough for others than SQLite: another one is another class like `Database`.
"""

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import SettingsError, StoreError
from .settings import PACKAGE, Settings, load_settings, project_root

PATIENCE = 30.0  # seconds to wait for another process that is writing
IN_MEMORY = ":memory:"


class Database:
    """One connection to SQLite, for the thread that opened it.

    A write is on the disk when its transaction ends, also if the machine stops then. Raises
    StoreError whenever the file cannot be read or written.
    """

    def __init__(self, path: str, patience: float = PATIENCE) -> None:
        self.path = path
        self.patience = patience
        try:
            if path != IN_MEMORY:
                Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _require_writable(path)
            self._connection = sqlite3.connect(path, timeout=0, isolation_level=None)
            self._connection.text_factory = lambda text: text.decode(errors="surrogateescape")
            self._execute("PRAGMA journal_mode=WAL")
            self._execute("PRAGMA synchronous=FULL")
            self.file = self._file_at_path()
        except (OSError, ValueError, sqlite3.Error) as error:
            raise self._problem(error) from None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that a query finds."""
        try:
            return self._execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def change(self, sql: str, *values: Any) -> int:
        """How many rows a statement changed."""
        try:
            return self._execute(sql, values).rowcount
        except sqlite3.Error as error:
            raise self._problem(error) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block or nothing of it; no other process writes meanwhile. One within another
        is a part of it.
        """
        if self._connection.in_transaction:
            yield
            return
        self.require_same_file()
        self.change("BEGIN IMMEDIATE")
        try:
            yield
            self.change("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.change("ROLLBACK")
            raise

    def create(self, steps: Sequence[str]) -> None:
        """Take the steps that this database has not seen, each a script of SQL, once.

        Raises StoreError if newer code took further ones.
        """
        if self.rows("PRAGMA user_version") == [(len(steps),)]:
            return
        with self.transaction():
            ((taken,),) = self.rows("PRAGMA user_version")  # another process may be faster
            if taken > len(steps):
                raise StoreError(f"{self.path} was made by a newer version; update this one")
            for step in steps[taken:]:
                for statement in step.split(";"):
                    self.change(statement)
            self.change(f"PRAGMA user_version = {len(steps)}")

    def version(self) -> int:
        """Another number whenever something was written over another connection than this one."""
        ((found,),) = self.rows("PRAGMA data_version")
        return int(found)

    def require_same_file(self) -> None:
        """Raise StoreError if the file was removed or replaced, so that nothing is written to one
        that nobody will find.
        """
        if self._file_at_path() != self.file:
            raise StoreError(f"{self.path} is not the file that was opened; start again")

    def abandon(self) -> None:
        """Forget the transaction that there may be, from within an interrupt."""
        self._connection.rollback()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _execute(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Run a statement. It waits for others here and not within SQLite, where no interrupt
        would be heard.
        """
        until = time.monotonic() + self.patience
        while True:
            try:
                return self._connection.execute(sql, values)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _file_at_path(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:  # as in memory, where there is none
            return None
        return found.st_dev, found.st_ino

    def _problem(self, error: Exception) -> StoreError:
        return StoreError(f"the database {self.path}: {error}")


def _require_writable(path: str) -> None:
    """Raise OSError for a file of somebody else's. To read it SQLite would put files beside it that
    its owner may not write.
    """
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError("this user may not write it; run as the one who made it")


def open_database(settings: Settings | None = None) -> Database:
    """The database of the settings, made if it is not there yet."""
    return Database(database_path(settings))


def database_path(settings: Settings | None = None) -> str:
    """The file of the database. Raises SettingsError where DATABASE_URL names none.

    A relative path begins at the project's root, wherever the command was started; without a
    project, as in an installed wheel, at the current folder.
    """
    settings = settings or load_settings()
    root = project_root()
    url = settings.get("DATABASE_URL")
    if not url:
        return str((root / "data" if root else _home()) / "threads.db")
    scheme, colon, path = url.partition("://")
    if scheme != "sqlite" or not colon or not path.startswith("/") or path == "/":
        shown = f"{scheme}://…" if colon else "something else"  # it may hold a password
        raise SettingsError(f"DATABASE_URL is {shown}; write sqlite:///PATH, or leave it out")
    path = path[1:]
    return IN_MEMORY if path == IN_MEMORY else str((root or Path.cwd()) / path)


def _home() -> Path:
    try:
        return Path.home() / ".local/share" / PACKAGE
    except RuntimeError:
        raise SettingsError("there is no home folder for the threads; set DATABASE_URL") from None
