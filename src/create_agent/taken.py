"""Names that a project cannot have, normalised as PEP 503 says: a project of that name would hide
a package that it imports, be installed instead of it, or put its command in the place of another.

tests/test_names.py installs everything that a project needs, with its optional parts, and compares.
"""

import sys

# What every project installs and imports.
_DEPENDENCIES = """
annotated-types baml-py dotenv pydantic pydantic-core python-dotenv typing-extensions
typing-inspection
""".split()

# What its tests, checks and builds need, and what an environment begins with.
_DEVELOPMENT = """
activate activate-bat activate-csh activate-fish activate-nu activate-ps1 activate-this
activate-this-py activate-xsh ast-serialize attr attrs colorama deactivate deactivate-bat
distutils-hack dmypy exceptiongroup hatch hatchling iniconfig librt mypy mypy-extensions mypyc
packaging pathspec pip pkg-resources pluggy py py-test pydoc pydoc-bat pygmentize pygments pyright
pytest ruff setuptools stubgen stubtest tomli tomlkit trove-classifiers uv uvx virtualenv wheel
""".split()

# What runs the tests of a project that was rendered from a checkout of create-agent.
_CHECKOUT = """
build copier execnet hypothesis platformdirs psutil pytest-xdist sortedcontainers xdist
""".split()

# What the server, PostgreSQL and the queue add, on any system.
_OPTIONAL_PARTS = """
annotated-doc anyio asgiref async-timeout certifi click croniter dateutil fastapi h11 httpcore
httptools httpx idna importlib-metadata opentelemetry opentelemetry-api procrastinate psycopg
psycopg-binary psycopg-c psycopg-pool python-dateutil python-multipart pytz pyyaml six sniffio
starlette tzdata tzlocal uvicorn uvloop watchfiles websockets yaml zipp
""".split()

# What the project itself is made of, or run with.
_OUR_OWN = """
agent-loop baml baml-cli baml-client baml-src bash cat cd chmod conftest cp create-agent
create-baml-agent curl data docker echo env eval exec exit export git ls make mkdir mv nodejs node
printf pwd read rm scripted set sh sitecustomize source src sudo test tests trap umask unset
usercustomize venv wait
""".split()

TAKEN = frozenset([*_DEPENDENCIES, *_DEVELOPMENT, *_CHECKOUT, *_OPTIONAL_PARTS, *_OUR_OWN])

# Modules of the standard library from 3.11 on: a project made with one version is run with others.
_OF_OTHER_PYTHONS = """
aifc annotationlib asynchat asyncore audioop cgi cgitb chunk compression crypt distutils imghdr imp
lib2to3 mailcap msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib
""".split()

STANDARD_LIBRARY = frozenset([*sys.stdlib_module_names, *_OF_OTHER_PYTHONS])

# Windows has no folder of these names, and a project is cloned there, too.
DEVICES = frozenset(
    ["aux", "con", "nul", "prn", *(f"{kind}{i}" for kind in ("com", "lpt") for i in range(1, 10))]
)
