"""The targets that the compiler has."""

import re
import subprocess


def targets(kvc, spec):
    """All names, as the compiler lists them where it knows no other."""
    asked = subprocess.run(
        [kvc, "compile", spec, "--target", "none", "--emit", "steps",
         "-o", "-"], capture_output=True, text=True)
    names = re.search(r"there is (.*)", asked.stderr).group(1).split(", ")
    return [name for name in names if name != "host"]
