"""Reads the structured logs that PyTorch writes into the folder $TORCH_TRACE (torch/_logging/_internal.py)."""
import json
import re

RECORD = re.compile(r"^[A-Z]\d{4} [\d:.]+ \d+ [^\]]*\] (\{.*\})$")


def records(path):
    """The records of a log, each with its text: the lines behind it that begin with a tab."""
    record, lines = None, []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("\t"):
                lines.append(line[1:])
                continue
            if record is not None:
                yield record, "\n".join(lines)
            found = RECORD.match(line)
            record, lines = None, []
            if found:
                try:
                    record = json.loads(found.group(1))
                except ValueError:  # PyTorch was killed as it wrote
                    record = None
    if record is not None:
        yield record, "\n".join(lines)


def compile_id(record):
    return f"{record.get('frame_id', '?')}_{record.get('frame_compile_id', '?')}"


def artifacts(path, name):
    """The texts of the artifacts of this name, with the numbers of the frame and of its compilation."""
    for record, text in records(path):
        if record.get("artifact", {}).get("name") == name:
            yield compile_id(record), text
