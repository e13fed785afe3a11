"""The engines that the tests ask, each as a function that makes an index: skipped where the engine is not installed."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from densvec import search


@contextlib.contextmanager
def faiss_engine():
    pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    yield search.FaissIndex, {}


@contextlib.contextmanager
def usearch_engine():
    pytest.importorskip("usearch", reason="usearch is not installed")
    yield search.UsearchIndex, {}


@contextlib.contextmanager
def duckdb_engine():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with duckdb.connect(":memory:") as connection:
        yield search.DuckDBIndex, {"connection": connection}


@contextlib.contextmanager
def qdrant_engine():
    qdrant = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    client = qdrant.QdrantClient(":memory:")
    yield search.QdrantIndex, {"client": client}
    client.close()


def postgres_binaries():
    """Return the folder of a PostgreSQL server's programs, the newest, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def has_pgvector(binaries):
    config = binaries / "pg_config"
    if not config.exists():
        return False
    shared = subprocess.run([config, "--sharedir"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(shared, "extension", "vector.control").exists()


@contextlib.contextmanager
def postgres_server():
    """Start a server of its own on a socket in a temporary folder, and connect to it."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    binaries = postgres_binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL server on this machine (apt-get install postgresql)")
    user = {}
    with tempfile.TemporaryDirectory(prefix="densvec-pg-") as folder:
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            try:
                account = pwd.getpwnam("postgres")
            except KeyError:
                pytest.skip("PostgreSQL cannot be run as root, and there is no user postgres")
            os.chown(folder, account.pw_uid, account.pw_gid)
            user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        data = os.path.join(folder, "data")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        options = {"check": True, "capture_output": True, "cwd": folder, **user}
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8"], **options
        )
        log = os.path.join(folder, "log")
        subprocess.run([binaries / "pg_ctl", "-D", data, "-l", log, "-w", "-o", settings, "start"], **options)
        try:
            with psycopg.connect(
                host=folder, user="tester", dbname="postgres", autocommit=True
            ) as connection:
                yield connection
        finally:
            subprocess.run([binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **options)


@contextlib.contextmanager
def postgres_engine():
    with postgres_server() as connection:
        yield search.PostgresIndex, {"connection": connection}


@contextlib.contextmanager
def pgvector_engine():
    """Ask Debian's server if it has pgvector, else the one that the package pgserver brings."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    binaries = postgres_binaries()
    if binaries is not None and has_pgvector(binaries):
        with postgres_server() as connection:
            yield search.PgvectorIndex, {"connection": connection}
            return
    pgserver = pytest.importorskip(
        "pgserver", reason="neither a server with pgvector nor pgserver is installed"
    )
    with tempfile.TemporaryDirectory(prefix="densvec-pgvector-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                yield search.PgvectorIndex, {"connection": connection}
        finally:
            server.cleanup()


ENGINES = {
    "faiss": faiss_engine,
    "usearch": usearch_engine,
    "duckdb": duckdb_engine,
    "qdrant": qdrant_engine,
    "postgres": postgres_engine,
    "pgvector": pgvector_engine,
}
