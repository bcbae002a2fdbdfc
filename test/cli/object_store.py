"""A small object store in this process, for tests of what the program does with `s3://`: objects, lists, copies; no uploads in parts.

  with ObjectStore() as store: … store.endpoint … store.objects["key"]
"""
import http.server
import threading
import urllib.parse
import xml.sax.saxutils

DATE = "Sun, 01 Mar 2026 12:00:00 GMT"


class ObjectStore:
    """`objects`: bytes by "bucket/key"."""

    def __init__(self):
        self.objects, self.metadata, self.lock = {}, {}, threading.Lock()
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, code, body=b"", **headers):
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def error(self, code, name):
                self.answer(code, f"<Error><Code>{name}</Code></Error>".encode())

            def handle_request(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with store.lock:
                    getattr(self, "on_" + self.command.lower())(urllib.parse.unquote(url.path)[1:], query, body)

            do_GET = do_HEAD = do_PUT = do_DELETE = handle_request

            def on_put(self, name, _, body):
                if self.headers.get("If-None-Match") and name in store.objects:
                    return self.error(412, "PreconditionFailed")
                source = urllib.parse.unquote(self.headers.get("x-amz-copy-source", ""))[1:]
                store.objects[name] = store.objects[source] if source else body
                store.metadata[name] = self.headers.get("x-amz-meta-caudal-mark", "")
                return self.answer(200, b"<CopyObjectResult/>" if source else b"", ETag=f'"{hash(store.objects[name])}"')

            def on_delete(self, name, *_):
                store.objects.pop(name, None)
                self.answer(204)

            def on_get(self, name, query, _):
                if "list-type" in query:
                    return self.list(name.rstrip("/"), query["prefix"])
                if name not in store.objects:
                    return self.error(404, "NoSuchKey")
                whole, span = store.objects[name], self.headers.get("Range")
                headers = {"ETag": f'"{hash(whole)}"', "Last_Modified": DATE, "x_amz_meta_caudal_mark": store.metadata.get(name, "")}
                if not span:
                    return self.answer(200, whole, **headers)
                first, last = map(int, span.removeprefix("bytes=").split("-"))
                return self.answer(206, whole[first:last + 1], **headers)

            on_head = on_get

            def list(self, bucket, prefix):
                entries = {}
                for name, content in store.objects.items():
                    if name.startswith(f"{bucket}/{prefix}"):
                        rest = name[len(bucket) + 1 + len(prefix):]
                        is_file = "/" not in rest
                        entries[prefix + (rest if is_file else rest.split("/")[0] + "/")] = content if is_file else None
                text = "<ListBucketResult>"
                for key, content in sorted(entries.items()):
                    key = xml.sax.saxutils.escape(key)
                    text += f"<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>" if content is None else (
                        f"<Contents><Key>{key}</Key><LastModified>2026-03-01T12:00:00.347Z</LastModified>"
                        f"<ETag>\"{hash(content)}\"</ETag><Size>{len(content)}</Size></Contents>")
                self.answer(200, f"{text}<IsTruncated>false</IsTruncated></ListBucketResult>".encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
