"""A PostgreSQL server of the tests' own: a fresh cluster on a free port of loopback, gone when they end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def find_program(name: str) -> str:
    """The program's path, "" where PostgreSQL's server is not installed (Debian keeps it out of PATH)."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name) or ""


@contextmanager
def running_postgres() -> Iterator[str]:
    """The URL of a new, empty database; the server refuses to run as root, so root starts it as another user."""
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as name:
        folder, user = Path(name), None
        if os.getuid() == 0:
            user = "postgres" if "\npostgres:" in Path("/etc/passwd").read_text(encoding="utf-8") else "nobody"
            shutil.chown(folder, user)
        data = folder / "data"
        start = [find_program("initdb"), "-D", str(data), "-U", "assistant", "--auth=trust", "--no-sync", "-E", "UTF8"]
        subprocess.run(start, user=user, check=True, capture_output=True, timeout=120, cwd=folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        control = [find_program("pg_ctl"), "-D", str(data), "-w", "-t", "60"]
        log = ["-l", str(folder / "log"), "-o", options]
        subprocess.run([*control, *log, "start"], user=user, check=True, timeout=90, cwd=folder, capture_output=True)
        try:
            yield f"postgresql://assistant@127.0.0.1:{port}/postgres"
        finally:
            stop = [*control, "-m", "immediate", "stop"]
            subprocess.run(stop, user=user, check=True, timeout=90, cwd=folder, capture_output=True)
