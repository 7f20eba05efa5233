"""Running another program: what it leaves behind holds nothing up, and an interrupt ends it all."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import interrupts

_GRACE = 1.0  # seconds between two looks at a process that writes nothing


def run(
    words: Sequence[str | Path], folder: Path, env: Mapping[str, str], show_errors: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program without a terminal to ask on, and wait for it, with what it wrote as text.

    words: the program and its arguments. folder: where it runs. env: all of its environment.
    show_errors: let its stderr be ours. When this process is interrupted meanwhile, the program is
    killed with every process it has started. Raises OSError if it cannot be started.
    """
    process = None
    try:
        with interrupts.held():  # or there might be a process that nobody knows
            process = subprocess.Popen(
                words,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if show_errors else subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        out, err = _output(process)
    except BaseException:
        if process:
            _cut_off(process)
        raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def _output(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What the process wrote, once it has ended.

    A process that it left behind may hold its streams open, and then is killed.
    """
    while True:
        try:
            return process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            if _has_ended(process):
                return _cut_off(process)


def _cut_off(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Kill the process and its group, and return what was written until then.

    One that went into a session of its own cannot be found; it goes on, and nobody listens to it.
    """
    _kill(process)
    try:
        return process.communicate(timeout=_GRACE)
    except subprocess.TimeoutExpired as late:
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        process.wait()
        return _text(late.output), _text(late.stderr)


def _text(written: bytes | str | None) -> str:
    return written.decode("utf-8", "replace") if isinstance(written, bytes) else written or ""


def _has_ended(process: subprocess.Popen[str]) -> bool:
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    # Without waiting for it, so that its number, and its group's, cannot become another's.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(process: subprocess.Popen[str]) -> None:
    if not hasattr(os, "killpg"):
        process.kill()
    elif process.returncode is None:  # not waited for, so the number is still its own
        os.killpg(process.pid, signal.SIGKILL)
