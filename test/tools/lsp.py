"""lsp.py SERVER: speaks to the language server as an editor does, and prints
what it says of a file of kv with an error and of one without."""
import json
import subprocess
import sys

GOOD = """\
#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
module {}
"""
BAD = GOOD.replace("kv_heads = 1", "kv_heads = 3")


class Editor:
    def __init__(self, server):
        self.server = subprocess.Popen(
            [server, "--log=error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0

    def send(self, method, params, **more):
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        text = json.dumps(message).encode()
        head = f"Content-Length: {len(text)}\r\n\r\n".encode()
        self.server.stdin.write(head + text)
        self.server.stdin.flush()

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

    def diagnostics(self, name, text):
        document = {"uri": f"file:///{name}", "languageId": "mlir"}
        document.update(version=1, text=text)
        self.send("textDocument/didOpen", {"textDocument": document})
        while True:
            said = self.receive()
            if said.get("method") == "textDocument/publishDiagnostics":
                return said["params"]["diagnostics"]


editor = Editor(sys.argv[1])
able = editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
print("hover:", able["capabilities"]["hoverProvider"])
print("good:", editor.diagnostics("good.mlir", GOOD))
for said in editor.diagnostics("bad.mlir", BAD):
    start = said["range"]["start"]
    print(f"bad: {start['line'] + 1}:{start['character'] + 1}: {said['message']}")
editor.ask("shutdown", None)
editor.send("exit", None)
print("exit code", editor.server.wait())
