"""git init and a first commit, where that is wanted and possible. Nothing here is fatal."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

from . import processes

MESSAGE = "Start from create-agent"
_COMMIT = f'git commit -m "{MESSAGE}"'
_ADD = "git add --all"
# How git says that there is none, and not that there is one which it cannot or may not read.
_NO_REPOSITORY = "not a git repository (or any"
# Inside a hook these point at another repository; the later ones say how paths are read.
_LOCAL = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
}


def start(project: Path, target: Path, files: Sequence[str]) -> str | None:
    """Make the project a git repository with one commit.

    project: its folder, which still stands aside. target: the folder that it will be; the one above
    it exists. files: what to commit, relative to the project. Returns None when that was done, or
    when the target is part of a work tree, which then holds the project; else a note for the user:
    why not, and the command that remains.
    """
    if not (git := shutil.which("git")):
        return "git is not installed, so the project is no repository yet"
    try:
        note = _start(_Git(os.path.abspath(git)), project, target, files)
    except OSError as error:
        return f"git cannot be run ({error.strerror}), so the project is no repository yet"
    # The folder of today is gone when the note is read.
    return note and note.replace(str(project), str(target))


def _start(git: "_Git", project: Path, target: Path, files: Sequence[str]) -> str | None:
    inside = target if target.is_dir() else target.parent
    around = git(inside, "rev-parse", "--is-inside-work-tree")
    if around.stdout.strip() == "true":
        if git(inside, "check-ignore", "--quiet", "--", f"{target}/").returncode:
            return None
        return "the repository around the project ignores this folder, so git will not hold it"
    if around.returncode and _NO_REPOSITORY not in around.stderr:
        reason = _reason(around.stderr)
        return f"git cannot tell whether this is in a repository ({reason}), so none was started"
    if os.path.lexists(target / ".git"):
        return f"git cannot read {target / '.git'}, so nothing was committed"
    chosen = git(project, "config", "init.defaultBranch").stdout.strip()
    done = git(project, "init", "--quiet", *([] if chosen else ["-b", "main"]))
    if done.returncode:
        shutil.rmtree(project / ".git", ignore_errors=True)
        return f"git could not start a repository: {_reason(done.stderr)}"
    # Each by its name: it belongs to the project also if a user ignores *.md elsewhere.
    done = git(project, "--literal-pathspecs", "add", "--force", "--", *files)
    if done.returncode:
        reason = _reason(done.stderr)
        return f"git could not add the files ({reason}); when it can: {_ADD} && {_COMMIT}"
    if problem := _without_identity(git, project):
        return f"git cannot tell who commits ({problem}); when it can: {_COMMIT}"
    done = git(project, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", MESSAGE)
    if done.returncode:
        return f"git could not commit ({_reason(done.stderr)}); when it can: {_COMMIT}"
    return None


def _without_identity(git: "_Git", project: Path) -> str | None:
    """Why git does not know who commits. Left to itself it would make something up."""
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        done = git(project, "-c", "user.useConfigOnly=true", "var", who)
        if done.returncode:
            return _reason(done.stderr)
    return None


class _Git:
    """Runs git: where it is told to, in English, and without anybody's hooks."""

    def __init__(self, program: str) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in _LOCAL}
        self._environment = {**kept, "LC_ALL": "C"}
        self._words = [program, "-c", f"core.hooksPath={os.devnull}"]

    def __call__(self, folder: Path, *words: str) -> CompletedProcess[str]:
        return processes.run([*self._words, *words], folder, self._environment)


def _reason(text: str) -> str:
    """What git says was wrong, without its advice."""
    lines = text.strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
