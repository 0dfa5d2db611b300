"""help.py KVC SOURCES: what each command's help lists and what its code asks
for are the same flags; each has its default; the parser takes these alone."""
import re
import subprocess
import sys


def run(*words):
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    return done.stdout + done.stderr


def flags_of(text):
    """name -> its lines, of one command's help."""
    flags, name = {}, None
    for line in text.split("\n\n")[-1].split("\n"):
        # A command without a value or a further line has its help there.
        found = re.match(r"  (-[-\w]+)(, -h)?( [A-Z]+)?  ", line)
        if found:
            name = found.group(1)
            flags[name] = (found.group(3), line)
        elif name:
            flags[name] = (flags[name][0], flags[name][1] + "\n" + line)
    return flags


kvc, *sources = sys.argv[1:]
wrong = []
text = run(kvc, "--help")
commands = re.findall(r"^  (\w+)  +\S", text, re.M)
listed = set()
for command in commands:
    text = run(kvc, command, "--help")
    flags = flags_of(text)
    if "--help" not in flags:
        wrong.append(f"{command}: --help is not in its help")
    if f"usage: kvc {command} " not in text:
        wrong.append(f"{command}: no usage")
    if not re.search(rf"^for example:\n(  kvc {command} .*\n)+\n", text, re.M):
        wrong.append(f"{command}: no example")
    if text != run(kvc, "help", command):
        wrong.append(f"{command}: kvc help prints other help")
    for name, (value, lines) in flags.items():
        if name == "--help":
            continue
        listed.add(name)
        if value and not re.search(r"^ *(default: \S.*|required)$", lines, re.M):
            wrong.append(f"{command} {name}: no default in its help")
        said = run(kvc, command, f"{name}=x", "--never")
        if f"has no flag '{name}'" in said:
            wrong.append(f"{command} {name}: in the help and refused")
    # Flags of other commands, and likely ones, are not taken in silence.
    for name in {"--trace", "--count", "--emit", "--spec", "--json", "-v"} - set(flags):
        if f"has no flag '{name}'" not in run(kvc, command, name, "x"):
            wrong.append(f"{command} {name}: not in the help and taken")
# What the code reads is what the help of some command lists.
read = set()
for source in sources:
    code = open(source, encoding="utf-8").read()
    read |= set(re.findall(r'(?:has|get|getIntegers?)\(\s*"(-[-\w]+)"', code))
    for group in re.findall(r"StringRef flag : \{([^}]*)\}", code):
        read |= set(re.findall(r'"(-[-\w]+)"', group))
for name in read - listed:
    wrong.append(f"{name} is read and in no help")
for name in listed - read:
    wrong.append(f"{name} is in a help and never read")
print("\n".join(wrong))
print(f"{len(commands)} commands, {len(listed)} flags, {len(wrong)} wrong")
sys.exit(1 if wrong or len(commands) < 5 or len(listed) < 10 else 0)
