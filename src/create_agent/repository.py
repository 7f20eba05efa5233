"""git init and a first commit, where that is wanted and possible. Nothing here is fatal."""

import os
from pathlib import Path
from subprocess import CompletedProcess

from . import processes

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


def start(project: Path, target: Path) -> str | None:
    """Make the project a git repository with one commit.

    project: its folder, which still stands aside. target: the folder that it will be; the one above
    it exists. Returns None when that was done, or when the target is part of a work tree, which
    then holds the project; else a note for the user: why not, and the command that remains.
    """
    inside = target if target.is_dir() else target.parent
    try:
        if _git(inside, "rev-parse", "--is-inside-work-tree").stdout.strip() == "true":
            return _note_if_ignored(inside, target)
        if os.path.lexists(target / ".git"):
            return f"git cannot read {target / '.git'}, so nothing was committed"
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


def _note_if_ignored(inside: Path, target: Path) -> str | None:
    """A note where the repository around the target would not hold it."""
    if _git(inside, "check-ignore", "--quiet", "--", str(target)).returncode:
        return None
    return "the repository around the project ignores this folder, so git will not hold it"


def _has_identity(project: Path) -> bool:
    """Whether git was told who commits. Left to itself it would make something up."""
    told = ("-c", "user.useConfigOnly=true", "var")
    return all(
        _git(project, *told, who).returncode == 0
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
    )


def _git(folder: Path, *words: str) -> CompletedProcess[str]:
    # Inside a hook, variables such as GIT_DIR point at another repository.
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    return processes.run(["git", *words], folder, environment)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]
