"""The application: the API, the page, and what every answer has in common."""

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.routing import compile_path

from ..errors import Damaged, StoreError, Unknown
from ..models import choose_model
from ..readable import compact, printable
from ..settings import PACKAGE, load_settings
from . import api, pages
from .access import Access, hosts_of, token_of
from .connections import Connection, most_connections
from .redelivery import WrongKey
from .runs import Runs
from .stores import Stores
from .streams import Streams

log = logging.getLogger(__name__)


def create_app() -> FastAPI:
    """The application, with the settings of the environment and of .env."""
    settings = load_settings()

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        stores = Stores(settings)
        await stores.read(lambda store: store.summaries(limit=1))  # raises what is wrong with it
        runs = Runs(choose_model(settings).ask, settings.limits, settings)
        streams = Streams(stores)
        app.state.services = api.Services(stores, runs, streams)
        Connection.most = most_connections()
        watching = asyncio.create_task(streams.watch())
        runs.begin()
        _before_the_end(streams.end)
        _end_with_parent()
        yield
        streams.end()
        await watching
        await asyncio.to_thread(runs.stop)
        stores.close()

    app = FastAPI(title=PACKAGE, lifespan=live, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.include_router(api.router)
    app.include_router(api.open_router)
    app.include_router(pages.router)
    app.add_middleware(Access, hosts=hosts_of(settings), token=token_of(settings))
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    return app


def _end_with_parent() -> None:
    """End, as by SIGTERM, when the process is gone that started this one for --workers."""
    if parent := multiprocessing.parent_process():

        def wait() -> None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=wait, daemon=True).start()


def _before_the_end(end: Callable[[], None]) -> None:
    """Call a function when a signal ends the server, which waits for streams that never end."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def handle(number: int, frame: Any, before: Any = before) -> None:
            end()
            if callable(before):
                before(number, frame)

        signal.signal(number, handle)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))


def _problem(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)


async def _not_as_it_has_to_be(request: Request, error: Exception) -> JSONResponse:
    """Name the first thing that is wrong, where it is, and never what was sent."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    why = first.get("ctx", {}).get("error", first["msg"])  # of JSON that is none, and of our checks
    return _problem(422, compact(f"{where}: {why}"))


async def _wrong_key(request: Request, error: Exception) -> JSONResponse:
    return _problem(422, str(error))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StarletteHTTPException)
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    if error.status_code == 405:
        headers["allow"] = ", ".join(sorted(_methods_at(request)))
    return JSONResponse({"error": str(error.detail)}, error.status_code, headers)


def _methods_at(request: Request) -> set[str]:
    """What may be asked for at this path; Starlette names only the first function's."""
    paths = request.app.openapi()["paths"].items()
    here = request.url.path
    return {
        method.upper()
        for path, methods in paths
        if compile_path(path)[0].fullmatch(here)
        for method in methods
    } or {"GET"}


async def _unknown(request: Request, error: Exception) -> JSONResponse:
    return _problem(404, str(error))


async def _no_store(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s", request.method, printable(f"{request.url.path}: {error}"))
    if isinstance(error, Damaged):
        return _problem(503, str(error))
    return _problem(503, "the threads cannot be read or written; the log says why")


async def _broken(request: Request, error: Exception) -> JSONResponse:
    return _problem(500, "a fault of this server; its log says more")


_HANDLERS: dict[Any, Callable[[Request, Exception], Any]] = {
    RequestValidationError: _not_as_it_has_to_be,
    StarletteHTTPException: _http,
    WrongKey: _wrong_key,
    Unknown: _unknown,
    StoreError: _no_store,
    Exception: _broken,
}
