"""lsp.py SERVER: speaks to the language server as an editor does, and prints
what it says of a file of kv with an error and of one without."""
import sys

from editor import Editor

GOOD = """\
#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
module {}
"""
BAD = GOOD.replace("kv_heads = 1", "kv_heads = 3")

editor = Editor(sys.argv[1])
print("hover:", editor.begin()["hoverProvider"])
print("good:", editor.open("good.mlir", GOOD, "mlir"))
for said in editor.open("bad.mlir", BAD, "mlir"):
    start = said["range"]["start"]
    print(f"bad: {start['line'] + 1}:{start['character'] + 1}: {said['message']}")
print("exit code", editor.end())
