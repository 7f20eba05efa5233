"""git init and a first commit, where that is wanted and possible. Nothing here is fatal."""

import os
import subprocess
from pathlib import Path

MESSAGE = "Start from create-agent"


def start(project: Path) -> str | None:
    """Make the project a git repository with one commit.

    Returns None when that was done, or when it stands inside another work tree, which then holds
    it; else a note for the user: why not, and the command that remains.
    """
    try:
        if _git(project, "rev-parse", "--is-inside-work-tree").returncode == 0:
            return None
        branch = (
            [] if _git(project, "config", "init.defaultBranch").stdout.strip() else ["-b", "main"]
        )
        started = _git(project, "init", "--quiet", *branch)
        if started.returncode == 0:
            started = _git(project, "add", "--all")
    except FileNotFoundError:
        return "git is not installed, so the project is no repository yet"
    if started.returncode:
        return f"git could not start a repository: {started.stderr.strip()}"
    commit = ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", MESSAGE]
    if _has_identity(project) and _git(project, *commit).returncode == 0:
        return None
    return f'git has no identity to commit with; set one, then: git commit -m "{MESSAGE}"'


def _has_identity(project: Path) -> bool:
    """Whether git was told who commits. Left to itself it would make something up."""
    told = ("-c", "user.useConfigOnly=true", "var")
    return all(
        _git(project, *told, who).returncode == 0
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
    )


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # Inside a hook, variables such as GIT_DIR point at another repository.
    local = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"}
    environment = {name: value for name, value in os.environ.items() if name not in local}
    return subprocess.run(
        ["git", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
    )
