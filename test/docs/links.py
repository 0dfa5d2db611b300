"""links.py FOLDER: every relative link of the pages below FOLDER leads to
something."""
import os
import re
import sys

pages = links = 0
dead = []
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if not name.endswith(".md"):
            continue
        pages += 1
        page = os.path.join(folder, name)
        text = open(page, encoding="utf-8").read()
        # Code is no text: `a[i](x)` is no link.
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            links += 1
            if not os.path.exists(os.path.join(folder, link)):
                dead.append(f"{page}: {link}")
print(*dead, f"{pages} pages, {links} links, {len(dead)} dead", sep="\n")
sys.exit(bool(dead) or not links)
