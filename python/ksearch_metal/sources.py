"""Where the text of a kernel stands: the line of a Python file for a line of the body."""

import linecache
import sys

from .errors import Place

_FRAMES = 16


def files_of_callers():
    """Files of the functions that are running, the innermost first, this package's left out."""
    files = []
    frame = sys._getframe(1)
    while frame is not None and len(files) < _FRAMES:
        file = frame.f_code.co_filename
        if frame.f_globals.get("__package__") != __package__ and file not in files:
            files.append(file)
        frame = frame.f_back
    return tuple(files)


def place(files, name, text, line):
    """Line `line` (from 1) of `text`, the body or the header of kernel `name`."""
    lines = text.split("\n")
    words = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    for file in files:
        whole = "".join(linecache.getlines(file))
        for wanted, before in ((text, line - 1), (words, 0)):
            # Of a text that was put together, the line alone is looked for: it has to be the only one.
            if len(wanted) > 8 and whole.count(wanted) == 1:
                return Place(file, whole[: whole.index(wanted)].count("\n") + 1 + before, words)
    return Place(name, line, words)


def stack_level():
    """For warnings.warn in the function that calls this: the first frame outside this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
        level += 1
    return level
