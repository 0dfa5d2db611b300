"""readme.py README FOLDER: writes the README's spec, its C program, the
line that compiles it and the first commands to FOLDER, as a reader would copy them."""
import os
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
folder = sys.argv[2]
os.makedirs(folder, exist_ok=True)


def block(language, having):
    for found in re.findall(rf"```{language}\n(.*?)```", text, re.S):
        if having in found:
            return found
    sys.exit(f"no {language} block with {having}")


for name, content in (
    ("tiny.yaml", block("yaml", "kvc: 1")),
    ("main.c", block("c", "int main")),
    ("compile.sh", block("sh", "cc main.c")),
    ("commands.sh", block("sh", "kvc check")),
):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(content)
