"""lsp-spec.py SERVER: speaks to the language server as an editor does of specs,
beside a file of kv, and prints what it says. Places are LSP's: from 0, lines and
units of UTF-16."""
import sys

from editor import Editor

GOOD = """\
kvc: 1
name: tiny
model: {layers: 2, heads: 2, head_dim: 8}
cache:
  keys: {bits: 4, per: channel, group: 32}
  window: 64
layers:
  - at: 1
    window: all
    context: 128
"""
MLIR = "#shape = #kv.shape<heads = 2, kv_heads = 3, head_dim = 8, value_dim = 8, io = f32>"


def show(name, diagnostics):
    print(f"{name}: {len(diagnostics)}")
    for said in diagnostics:
        start, end = said["range"]["start"], said["range"]["end"]
        print(
            f"  {start['line']}:{start['character']}-{end['line']}:{end['character']}"
            f" {said['source']} {said['severity']}: {said['message']}"
        )


editor = Editor(sys.argv[1])
editor.begin()


def check(name, text):
    show(name, editor.open(name, text, "yaml"))


# Opened wrong, put right, made wrong again, closed: beside IR that is wrong.
check("tiny.yaml", GOOD.replace("group: 32", "group: 33, flush: 64"))
show("x.mlir", editor.open("x.mlir", MLIR, "mlir"))
show("changed", editor.change("tiny.yaml", GOOD))
show("changed", editor.change("tiny.yaml", GOOD.replace("window: 64", "windows: 64"), 3))
show("changed IR", editor.change("x.mlir", MLIR.replace("kv_heads = 3", "kv_heads = 1")))
show("closed", editor.close("tiny.yaml"))

# Columns: in and after letters of two, three and four bytes (one unit, one, two), with
# \r\n, behind a byte order mark.
check("utf16.yaml", GOOD.replace("name: tiny", "name: 'é→😀'   # not a name"))
check("comment.yml", GOOD.replace("{bits: 4,", '{bits: "é😀", perr: token, bits: 4,'))
check("crlf.yaml", GOOD.replace("heads: 2,", "heads: 0,").replace("\n", "\r\n"))
check("mark.yaml", "\ufeff" + GOOD.replace("kvc: 1", "kvc: 2"))
check("tab.yaml", GOOD.replace("  window: 64", "\twindow: 64"))
# A tab that stands where one may.
check("tabs.yaml", GOOD.replace("window: 64", "window:\t64x\t# é😀"))
check("whole.yaml", "kvc: 1\n")
check("broken.yaml", GOOD.replace("group: 32}", "group: 32"))
check("json.yaml", '{\n  "kvc": 1, "name": "t", "size": 3}\n')

# Other YAML is left alone, whatever is wrong with it.
check("other.yaml", "on: [push\njobs:\n  kvc: 1\n\t- x\n")
check("empty.yaml", "")
check("nested.yaml", '{"jobs": {"kvc": 1}, "x": "kvc"}')

# What is meant as a spec: kvc is a key of the outermost map.
meant = ["kvc=1", "kvc 1", "kvc", "# x\n--- # x\n'kvc' : 2", "  x: 1\n  kvc: 1",
         '{ # x\n"kvc": 1}', "{x: [kvc], kvc: 1}", "x: [\nkvc: 1",
         '"\\x6bvc": 1']
other = ["kvcs: 1", "kvc/x: 1", "x:\n  kvc: 1", "{x: {kvc: 1}}", "# kvc: 1", "- kvc: 1",
         '{"x": ",kvc: 1"}', "{x: 1 # , kvc: 1\n}"]
print("meant:", [bool(editor.open("m.yaml", text, "yaml")) for text in meant])
print("other:", [bool(editor.open("m.yaml", text, "yaml")) for text in other])


def hover(line, character, name="tiny.yaml"):
    said = editor.at("hover", name, line, character)
    if not said:
        print(f"hover {line}:{character}: nothing")
        return
    start, end = said["range"]["start"], said["range"]["end"]
    text = said["contents"]["value"].replace("\n\n", " | ")
    print(f"hover {line}:{start['character']}-{end['character']}: {text}")


check("tiny.yaml", GOOD)
hover(5, 4)
hover(4, 19)
hover(8, 10)
hover(2, 9)
hover(5, 11)
hover(100, 100)
check("pairs.yaml", GOOD.replace("keys: {", 'keys: {scales: "f16", '))
hover(4, 26, "pairs.yaml")


def complete(before, after="", name="c.yaml"):
    """The choices at the end of `before`."""
    editor.open(name, before + after, "yaml")
    line = before.count("\n")
    character = len(before) - before.rfind("\n") - 1
    items = editor.at("completion", name, line, character)["items"]
    items.sort(key=lambda item: item["sortText"])
    print(f"complete {before[before.rfind(chr(10)) + 1 :]!r}:", end=" ")
    print("; ".join(item["textEdit"]["newText"] for item in items) or "nothing")
    return items


ROOT = "kvc: 1\nname: t\n"
complete("")
complete(ROOT)
complete(ROOT + "cache:\n  keys: ")
item = complete(ROOT + "cache:\n  keys: f16\n  si", "\n  window: 4\n")[0]
edit = item["textEdit"]["range"]
print("replaces", edit["start"]["character"], "to", edit["end"]["character"])
complete(ROOT + "cache:\n  keys: {bits: 4, p", "}\n")
complete(ROOT + "cache: {keys: {bits: 4, per: ")
complete(ROOT + "model:\n  rope:\n    scaling: {type: llama3, ")
complete(ROOT + "model:\n  rope: {scaling: {type: ", "}}")
complete(ROOT + "model:\n  learned_sinks: ")
complete(ROOT + "layers:\n  - at: 0\n    sh")
complete(ROOT + "cache:\n  wind", "ow: 4\n")
complete(ROOT + "cache:\n  window: 4 # w")
complete("on: push\n")

print("definition:", editor.at("definition", "tiny.yaml", 5, 4))
print("exit code", editor.end())
