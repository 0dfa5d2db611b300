"""terminal.py COMMAND...: whether its errors are coloured on a terminal."""
import os
import pty
import sys


def told(words, no_color):
    """How it prints its errors to a terminal."""
    child, end = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("NO_COLOR", None)
        if no_color:
            os.environ["NO_COLOR"] = "1"
        os.execvp(words[0], words)
    text = b""
    try:
        while data := os.read(end, 4096):
            text += data
    except OSError:  # Linux says so that the other side is closed
        pass
    os.waitpid(child, 0)
    assert b"error: " in text, text
    return "coloured" if b"\x1b[" in text else "plain"


words = sys.argv[1:]
print("NO_COLOR unset:", told(words, False))
print("NO_COLOR=1:", told(words, True))
print("NO_COLOR=1, --color always:", told([*words, "--color", "always"], True))
print("NO_COLOR unset, --color never:", told([*words, "--color=never"], False))
