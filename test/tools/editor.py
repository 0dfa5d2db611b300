"""An editor, as far as a language server can tell."""
import json
import subprocess
import sys


class Editor:
    def __init__(self, server):
        self.server = subprocess.Popen(
            [server, "--log=error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0

    def send_text(self, text):
        head = f"Content-Length: {len(text)}\r\n\r\n".encode()
        self.server.stdin.write(head + text)
        self.server.stdin.flush()

    def send(self, method, params, **more):
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self.send_text(json.dumps(message).encode())

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline().strip()):
            name, value = line.decode().split(": ")
            if name == "Content-Length":
                length = int(value)
        if not length:
            sys.exit("the server said nothing more")
        return json.loads(self.server.stdout.read(length))

    def ask(self, method, params):
        self.number += 1
        self.send(method, params, id=self.number)
        while (answer := self.receive()).get("id") != self.number:
            pass
        return answer["result"]

    def begin(self):
        return self.ask(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}}
        )["capabilities"]

    def end(self):
        """Ends the server, and says its exit code."""
        self.ask("shutdown", None)
        self.send("exit", None)
        return self.server.wait()

    def published(self, name):
        """The next diagnostics, which are to be of this document."""
        while True:
            said = self.receive()
            if said.get("method") == "textDocument/publishDiagnostics":
                if said["params"]["uri"] != f"file:///{name}":
                    sys.exit(f"diagnostics of {said['params']['uri']}, not {name}")
                return said["params"]["diagnostics"]

    def open(self, name, text, language):
        document = {"uri": f"file:///{name}", "languageId": language}
        document.update(version=1, text=text)
        self.send("textDocument/didOpen", {"textDocument": document})
        return self.published(name)

    def change(self, name, text, version=2):
        document = {"uri": f"file:///{name}", "version": version}
        changes = [{"text": text}]
        self.send(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": changes},
        )
        return self.published(name)

    def close(self, name):
        self.send("textDocument/didClose", {"textDocument": {"uri": f"file:///{name}"}})
        return self.published(name)

    def at(self, request, name, line, character):
        """What a request says of a place, both counted from 0."""
        return self.ask(
            f"textDocument/{request}",
            {
                "textDocument": {"uri": f"file:///{name}"},
                "position": {"line": line, "character": character},
            },
        )
