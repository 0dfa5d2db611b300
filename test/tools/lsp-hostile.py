"""lsp-hostile.py SERVER: sends the language server what no editor does; it must
answer on. Prints what it says of each."""
import json
import sys
import time

from editor import Editor

editor = Editor(sys.argv[1])
editor.begin()


def refused(name, text):
    editor.send_text(text)
    said = editor.receive()
    print(f"{name}: {said['error']['code']}, id {said['id']}")


refused("no JSON", b"{")
refused("no UTF-8", b'{"jsonrpc": "2.0", "method": "\xff"}')
refused("no object", b"[1]")
refused("no version", b'{"method": "textDocument/hover", "id": 7}')
refused("no method", b'{"jsonrpc": "2.0"}')
refused("a method that is none", b'{"jsonrpc": "2.0", "method": 3}')
refused("deep", b"[" * (1 << 20))
URI = "file:///x.yaml"
for params in (
    None,
    [],
    {"textDocument": URI},
    {"textDocument": {"uri": URI}},
    {"textDocument": {"uri": URI, "text": 3}},
    {"textDocument": {"uri": "x.yaml", "text": "kvc: 1", "version": 1}},
    {"textDocument": {"uri": URI, "version": 1e300, "text": [], "languageId": 0}},
):
    for method in ("didOpen", "didChange", "didClose", "didSave"):
        editor.send(f"textDocument/{method}", params)
editor.server.stdin.write(b"Content-Length: x\r\n\r\nContent-Length: 99999999999\r\n\r\n")
editor.send("textDocument/hover", {"textDocument": {"uri": URI}}, id="x")
print("no position:", editor.receive()["error"]["code"])

# Changes that are none, or of a document that is not open.
editor.send(
    "textDocument/didChange",
    {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "kvc: 2"}]},
)
print("not open:", editor.at("hover", "x.yaml", 0, 1))

NAME = "x.yaml"
HEAD = "kvc: 1\nname: t\n"
took = 0.0
for name, text in {
    "huge": HEAD + "# " + "x" * (1 << 20),
    "NUL": HEAD + "\0",
    "surrogate": HEAD + "window: \ud800",
    "carriage returns": "kvc: 1\r\rname: 3\r",
    "deep brackets": "kvc: " + "[" * 100000,
    "one line": "{kvc: 1, " + ", ".join(f"k{i}: 1" for i in range(8000)) + "}",
    "quotes": HEAD + "'" * 500000,
}.items():
    begin = time.time()
    found = editor.open(NAME, text, "yaml")
    took = max(took, time.time() - begin)
    print(f"{name}: {len(found)}:", found[0]["message"])
    for request in ("hover", "completion"):
        for line, character in ((0, 0), (-5, -5), (2**31 - 1, 2**31 - 1), (2, 3)):
            editor.at(request, NAME, line, character)
print("soon:", took < float(sys.argv[2]))
print("exit code", editor.end())
