"""The recipe for PostgreSQL, asked of a real server with pgvector; tests/test_docs.py runs the others."""

import tempfile
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/howto/search_databases.md"


def test_the_recipe_for_postgresql(monkeypatch, capsys):
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    pgserver = pytest.importorskip("pgserver", reason="pgserver is not installed")
    code, printed = PAGE.read_text(encoding="utf8").rpartition("```python")[2].split("```text")
    connect = psycopg.connect
    with tempfile.TemporaryDirectory(prefix="densvec-pg-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            monkeypatch.setattr(psycopg, "connect", lambda name: connect(server.get_uri()))
            exec(code.replace("```", ""), {})
        finally:
            server.cleanup()
    assert capsys.readouterr().out.strip() == printed.replace("```", "").strip()
