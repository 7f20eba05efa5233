"""git init and a first commit, where that is wanted and possible. Nothing here is fatal."""

import os
import subprocess
from pathlib import Path

MESSAGE = "Start from create-agent"
_LOCAL = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
}


def start(project: Path, inside: Path) -> str | None:
    """Make the project a git repository with one commit.

    project: its folder, which may still stand aside. inside: the folder that it will stand in.
    Returns None when that was done, or when that folder is part of a work tree, which then holds
    the project; else a note for the user: why not, and the command that remains.
    """
    try:
        if _git(inside, "rev-parse", "--is-inside-work-tree").stdout.strip() == "true":
            return None
        chosen = _git(project, "config", "init.defaultBranch").stdout.strip()
        done = _git(project, "init", "--quiet", *([] if chosen else ["-b", "main"]))
        if done.returncode == 0:
            # Only the project's own .gitignore counts: a user's general one may hold *.md.
            done = _git(project, "-c", f"core.excludesFile={os.devnull}", "add", "--all")
    except FileNotFoundError:
        return "git is not installed, so the project is no repository yet"
    except OSError as error:
        return f"git cannot be run ({error.strerror}), so the project is no repository yet"
    if done.returncode:
        return f"git could not start a repository: {_last_line(done.stderr)}"
    if not _has_identity(project):
        return f'git has no identity to commit with; set one, then: git commit -m "{MESSAGE}"'
    done = _git(project, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", MESSAGE)
    if done.returncode:
        problem = _last_line(done.stderr)
        return f'git could not commit ({problem}); when it can: git commit -m "{MESSAGE}"'
    return None


def _has_identity(project: Path) -> bool:
    """Whether git was told who commits. Left to itself it would make something up."""
    told = ("-c", "user.useConfigOnly=true", "var")
    return all(
        _git(project, *told, who).returncode == 0
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
    )


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # Inside a hook, variables such as GIT_DIR point at another repository.
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    return subprocess.run(
        ["git", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]
