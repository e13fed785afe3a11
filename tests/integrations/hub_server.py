"""A stand-in for the Hugging Face hub: what huggingface_hub asks of it over HTTP, on this machine."""

import base64
import hashlib
import http.server
import json
import re
import threading
from urllib.parse import urlsplit


class Hub(http.server.ThreadingHTTPServer):
    """Repositories: each commit is a dictionary of files; branches and tags are names of commits."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self.commits, self.references = {}, {}  # both by repository
        self.asked, self.faults = [], []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def commit(self, name, files, branch="main"):
        """Add a commit with more files, and return its hash."""
        commits, references = self.commits.setdefault(name, {}), self.references.setdefault(name, {})
        files = {**commits.get(references.get(branch), {}), **files}
        marks = repr(
            [len(commits), *((path, hashlib.sha1(content).hexdigest()) for path, content in files.items())]
        )
        commit = hashlib.sha1(marks.encode()).hexdigest()
        commits[commit], references[branch] = files, commit
        return commit

    def stop(self):
        self.shutdown()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, document, status=200, headers=None, content=None):
        content = json.dumps(document).encode() if content is None else content
        self.send_response(status)
        for name, value in {"Content-Length": len(content), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def missing(self, code):
        self.answer({"error": code}, 404, {"X-Error-Code": code})

    def do_GET(self):
        self.server.asked.append(f"{self.command} {self.path}")
        name, revision, file = re.fullmatch(
            r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", urlsplit(self.path).path
        ).groups()
        commits = self.server.commits.get(name)
        if commits is None:
            return self.missing("RepoNotFound")
        commit = self.server.references[name].get(revision, revision)
        if commit not in commits:
            return self.missing("RevisionNotFound")
        if file not in commits[commit]:
            return self.answer({}, 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        content = commits[commit][file]
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit}
        return self.answer(None, 200, headers, content)

    do_HEAD = do_GET

    def do_POST(self):
        self.server.asked.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = urlsplit(self.path).path
        if path == "/api/repos/create":
            document = json.loads(body)
            name = "/".join(filter(None, (document.get("organization"), document["name"])))
            if name in self.server.commits:
                return self.answer({"url": f"{self.server.address}/{name}", "error": "exists"}, 409)
            self.server.commit(name, {".gitattributes": b""})
            return self.answer({"url": f"{self.server.address}/{name}", "id": name, "name": name})
        if path == "/api/validate-yaml":
            self.server.faults += [] if json.loads(body)["content"].startswith("---\n") else ["no metadata"]
            return self.answer({"errors": [], "warnings": []}, 400 if self.server.faults else 200)
        name, action, branch = re.fullmatch(r"/api/models/([^/]+/[^/]+)/(\w+)/(.+)", path).groups()
        if action == "preupload":
            files = [
                {**file, "uploadMode": "regular", "shouldIgnore": False} for file in json.loads(body)["files"]
            ]
            return self.answer({"files": files})
        lines = [json.loads(line) for line in body.splitlines()]
        files = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"])
            for line in lines
            if line["key"] == "file"
        }
        commit = self.server.commit(name, files, branch)
        url = f"{self.server.address}/{name}/commit/{commit}"
        return self.answer({"commitUrl": url, "commitOid": commit, "success": True})
