"""The OpenAPI document says what the server does, and nothing that it allows breaks the server."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from payments import REFUND
from serving import Api, serving
from support import environment


@pytest.fixture(scope="module")
def api(project: Path) -> Iterator[Api]:
    """A server with a token, so that nothing is answered by chance."""
    with serving(project, AGENT_API_TOKEN="a-token-of-this-test") as found:
        yield found


def test_random_requests_find_no_fault(api: Api, tmp_path: Path) -> None:
    """Schemathesis makes right and wrong requests of the document: none is answered with a server
    error, nor with a status or a shape that the document does not name, and no wrong one is taken.
    """
    command = Path(sys.executable).with_name("schemathesis")
    thread = api.rests(api.launch(REFUND.format("A-1")), "waiting")
    ids = {
        "/threads/{id}": thread["id"],
        "/threads/{id}/messages": thread["id"],
        "/threads/{id}/resume": thread["id"],
        "/approvals/{id}": thread["pending"]["approval_id"],
    }
    (tmp_path / "schemathesis.toml").write_text(
        "\n".join(
            f'[[operations]]\ninclude-path = "{path}"\nparameters = {{ "path.id" = "{id}" }}'
            for path, id in ids.items()
        ),
        encoding="utf-8",
    )
    done = subprocess.run(
        [
            *(command, "run", f"{api.url}/openapi.json", "--max-examples", "15", "--seed", "1"),
            *("--header", f"Authorization: {api.headers['authorization']}", "--no-color"),
            # What an unknown id would be told is not what its shape allows.
            *("--exclude-checks", "positive_data_acceptance"),
            *("--exclude-path-regex", "/events$"),  # which never ends
        ],
        cwd=tmp_path,
        env=environment(NO_PROXY="*"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert 0 == done.returncode, done.stdout
    assert 200 == api.get("/health").status
    assert [] == [line for line in api.log if "Traceback" in line]
