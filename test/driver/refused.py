"""refused.py KVC FOLDER: of every spec in FOLDER, kvc check says something that
it does not say of base.yaml there, which has faults of its own."""
import os
import subprocess
import sys

kvc, folder = sys.argv[1:]
files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
run = subprocess.run([kvc, "check", *files], stderr=subprocess.PIPE, encoding="utf-8")
said = {file: set() for file in files}
for line in run.stderr.split("\n"):
    place, error, message = line.partition(": error: ")
    if error:
        said[place.split(":")[0]].add(message)
base = said.pop(os.path.join(folder, "base.yaml"))
missed = [file for file in said if not said[file] - base]
for file in missed[:5]:
    print(file, "is taken:", open(file, encoding="utf-8").read())
print(f"{len(said)} specs, {len(missed)} taken, exit code {run.returncode}")
sys.exit(1 if missed or run.returncode != 1 else 0)
