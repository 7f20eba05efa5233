"""`docker build` and `docker run` without a container engine: the lines of a Dockerfile are carried
out, in order, in a folder that stands for the container.

    docker build -t NAME FOLDER
    docker run [--rm] [--init] [--env-file FILE] [-e NAME] [-p HOST:PORT:PORT] [-v NAME:PATH] NAME
               [WORD …]

DOCKER_ROOT is where images and volumes are kept. As in a container, nothing that .dockerignore
names gets in, and none of this machine's variables but those with which packages are installed.
Not as in one: the base image is this Python in a new venv, the user stays the same, and so do the
network and whatever is outside WORKDIR. A word of a Dockerfile that is not known here is an error,
so that nothing is passed over.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(os.environ.get("DOCKER_ROOT", "images"))
OUTSIDE = ("PIP_", "UV_", "SSL_", "HTTP", "http", "NO_PROXY", "LANG")  # how packages are got here


def build(name: str, context: Path) -> None:
    """Carry out the Dockerfile of a folder."""
    image = Image(ROOT / name)
    for word, rest in instructions(context / "Dockerfile"):
        print(f"{word} {rest}", flush=True)
        image.carry_out(word, rest, context)
    image.save()


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, without comments and line breaks."""
    lines = dockerfile.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined]


class Image:
    """What the lines so far have made. folder: it stands for WORKDIR."""

    def __init__(self, root: Path) -> None:
        self.root, self.workdir, self.folder = root, "/", root
        self.config: dict[str, Any] = {"env": {}, "ports": [], "volumes": [], "user": "root"}

    def carry_out(self, word: str, rest: str, context: Path) -> None:
        """Do what one instruction says. Raises SystemExit if that is not known here, or fails."""
        if word in {"COPY", "RUN"} and self.config["user"] != "root":
            sys.exit(f"{word} after USER: nobody but root may write there")
        match word:
            case "FROM":
                if not re.fullmatch(r"python:3\.\d+-slim", rest):
                    sys.exit(f"no stand-in for the image {rest}")
                shutil.rmtree(self.root, ignore_errors=True)
                subprocess.run([sys.executable, "-m", "venv", self.root / "base"], check=True)
            case "WORKDIR":
                self.workdir, self.folder = rest, self.root / rest.strip("/")
                self.folder.mkdir(parents=True)
            case "ENV":
                key, _, value = rest.partition("=")
                self.config["env"][key] = value.replace(f"{self.workdir}/", f"{self.folder}/")
            case "COPY":
                source, target = rest.split()
                copy(context, source, self.folder / target)
            case "RUN":
                done = subprocess.run(["sh", "-c", rest], cwd=self.folder, env=self.environment())
                if done.returncode:
                    sys.exit(done.returncode)
            case "VOLUME":
                self.config["volumes"].append(rest)
            case "EXPOSE":
                self.config["ports"].append(rest)
            case "USER":
                self.config["user"] = rest
            case "ENTRYPOINT" | "CMD":
                self.config[word.lower()] = json.loads(rest)
            case "HEALTHCHECK":
                self.config["healthcheck"] = json.loads(rest.removeprefix("CMD "))
            case _:
                sys.exit(f"no stand-in for {word}")

    def environment(self) -> dict[str, str]:
        """The variables of a process in the container."""
        path = f"{self.root / 'base/bin'}:/usr/local/bin:/usr/bin:/bin"
        outside = {name: value for name, value in os.environ.items() if name.startswith(OUTSIDE)}
        return {**outside, "HOME": "/nonexistent", "PATH": path, **self.config["env"]}

    def save(self) -> None:
        """Keep what `run` needs."""
        config = {**self.config, "env": self.environment(), "workdir": str(self.folder)}
        config["volumes"] = [str(self.folder / Path(v).name) for v in self.config["volumes"]]
        (self.root / "config.json").write_text(json.dumps(config), encoding="utf-8")


def copy(context: Path, source: str, target: Path) -> None:
    """COPY, of a file or of the whole context, without what .dockerignore names."""
    if source != ".":
        shutil.copy(context / source, target)
        return
    lines = (context / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    for path in sorted(path for path in context.rglob("*") if path.is_file() or path.is_symlink()):
        inside = path.relative_to(context)
        if not is_ignored(PurePosixPath(inside), patterns):
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / inside, follow_symlinks=False)


def is_ignored(path: PurePosixPath, patterns: list[str]) -> bool:
    """What .dockerignore says of a file: the last line that means it, or a folder above it."""
    ignored = False
    for line in patterns:
        pattern = line.removeprefix("!")
        if any(is_meant(each, pattern) for each in (path, *path.parents[:-1])):
            ignored = line == pattern
    return ignored


def is_meant(path: PurePosixPath, pattern: str) -> bool:
    """Whether a pattern of .dockerignore means just this path; `*` ends at a slash."""
    if pattern.startswith("**/"):
        return fnmatchcase(path.name, pattern.removeprefix("**/"))
    return len(path.parts) == pattern.count("/") + 1 and fnmatchcase(str(path), pattern)


def run(args: argparse.Namespace) -> None:
    """Become the container's process."""
    config = json.loads((ROOT / args.image / "config.json").read_text(encoding="utf-8"))
    env = dict(config["env"])
    for file in args.env_file:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        env.update(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    env.update({name: os.environ[name] for name in args.e if name in os.environ})
    for published in args.p:
        found = re.fullmatch(r"127\.0\.0\.1:\d+:(\d+)", published)
        assert found, f"{published} would be reached from elsewhere"
        assert found[1] in config["ports"], f"{published} is not exposed"
    for mounted in args.v:
        name, _, place = mounted.partition(":")
        inside = Path(config["workdir"]) / Path(place).name
        assert str(inside) in config["volumes"], f"{place} is no volume"
        assert re.fullmatch(r"[a-zA-Z0-9][\w.-]+", name), f"{name} is no name of a volume"
        volume = ROOT / "volumes" / name
        if not inside.is_symlink():
            volume.parent.mkdir(exist_ok=True)
            inside.rename(volume)  # a new volume starts with what the image holds there
            inside.symlink_to(volume)
    words = [*config["entrypoint"], *(args.words or config["cmd"])]
    os.chdir(config["workdir"])
    os.execvpe(words[0], words, env)


def tag(text: str) -> str:
    """A name that Docker takes for an image. Raises ValueError for others."""
    if not re.fullmatch(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*", text):
        raise ValueError(text)
    return text


def main() -> None:
    """Read the words as docker does, as far as they are known here."""
    parser = argparse.ArgumentParser(prog="docker")
    commands = parser.add_subparsers(required=True)
    builds = commands.add_parser("build")
    builds.add_argument("-t", required=True, type=tag)
    builds.add_argument("context", type=Path)
    builds.set_defaults(do=lambda args: build(args.t, args.context))
    runs = commands.add_parser("run")
    for flag in ("--rm", "--init"):
        runs.add_argument(flag, action="store_true")
    for option in ("--env-file", "-e", "-p", "-v"):
        runs.add_argument(option, action="append", default=[])
    runs.add_argument("image", type=tag)
    runs.add_argument("words", nargs=argparse.REMAINDER)
    runs.set_defaults(do=run)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
