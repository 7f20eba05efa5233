"""The pages: the inbox, from the files beside this one, and /docs, made from the OpenAPI document.

No page loads anything from elsewhere, and none holds a script or a style within its HTML.
"""

from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response

Json = dict[str, Any]

_HTML = "text/html; charset=utf-8"
_FILES = {
    "/": ("inbox.html", _HTML),
    "/inbox.css": ("inbox.css", "text/css; charset=utf-8"),
    "/inbox.js": ("inbox.js", "text/javascript; charset=utf-8"),
    "/client.js": ("client.js", "text/javascript; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/pending.js": ("pending.js", "text/javascript; charset=utf-8"),
}
PATHS = {*_FILES, "/docs", "/openapi.json"}

router = APIRouter(include_in_schema=False)


async def file(request: Request) -> Response:
    """A file of the inbox, where people answer and approve."""
    name, kind = _FILES[request.url.path]
    return Response(Path(__file__).with_name(name).read_bytes(), media_type=kind)


for _path in _FILES:
    router.add_api_route(_path, file, methods=["GET", "HEAD"])


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The API, for people."""
    document = request.app.openapi()
    schemas = document["components"]["schemas"]
    operations = [
        _operation(f"{method.upper()} {path}", operation, schemas)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    title = escape(document["info"]["title"])
    page = _PAGE.format(title=title, operations="\n".join(operations))
    return Response(page, media_type=_HTML)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/inbox.css">
<main class="docs">
<h1>{title}: API</h1>
<p>Bodies and answers are JSON; an error is <code>{{"error": "why"}}</code>. Where the server has a
token, send <code>Authorization: Bearer TOKEN</code>. For programs: <a href="/openapi.json">the
OpenAPI document</a>. For people: <a href="/">the inbox</a>.</p>
{operations}
</main>
</html>
"""


def _operation(heading: str, operation: Json, schemas: Json) -> str:
    rows = [
        (f"{each['name']} ({each['in']})", each["schema"], each.get("required", False))
        for each in operation.get("parameters", [])
    ]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = _schema(content["schema"], schemas)
        needed = body.get("required", [])
        rows += [
            (f"{name} (body)", field, name in needed)
            for name, field in body.get("properties", {}).items()
        ]
    told = "".join(
        f"<p>{escape(text)}</p>" for text in operation.get("description", "").split("\n\n")
    )
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code><td>{escape(_kind(schema))}"
        f"<td>{'required' if needed else ''}"
        for name, schema, needed in rows
    )
    answers = "".join(
        f"<li><code>{status}</code> {escape(answer['description'])}"
        for status, answer in operation["responses"].items()
    )
    table = f"<table>{cells}</table>" if cells else ""
    return f"<h2><code>{escape(heading)}</code></h2>{told}{table}<ul>{answers}</ul>"


def _schema(schema: Json, schemas: Json) -> Json:
    """What a schema refers to, where it does."""
    for choice in schema.get("anyOf", [schema]):
        if "$ref" in choice:
            found: Json = schemas[choice["$ref"].rpartition("/")[2]]
            return found
    return schema


def _kind(schema: Json) -> str:
    """The type of a value, in a few words."""
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(schema["enum"])
    most = f", at most {schema['maxLength']} characters" if "maxLength" in schema else ""
    return f"{schema.get('type', 'any')}{most}"
