#!/usr/bin/env python3
"""Whether each class with more than 30 members (fields and functions) has a written reason, and has not grown beyond its limit.

Counts are approximate: they come from the text, not from a compiler. Prints every offence and exits 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("base", "plan", "dialects", "lib", "runtime", "tools")
MAX_MEMBERS = 30

# Maximum number of members of a larger class, and why it is one class.
LARGE = {
    "RowsPlan": (45, "the schedule of a row kernel: each number depends on those chosen before, and its emitters read most of them"),
    "Executor": (55, "the runtime's interface to a bound plan; scalars, measurements, replay and control are classes of their own"),
    "NcclCommunicator": (50, "two interfaces, of messages between hosts and between GPUs; it forwards the first to another communicator"),
    "DriverLibrary": (50, "a table of the driver's functions"),
    "TcpCommunicator": (50, "the interface of a communicator, and the state of its links under one mutex, which one thread serves"),
    "MpiPeers": (45, "messages and heartbeats share one progress loop, in the one thread that calls MPI"),
    "CudaDevice": (45, "the interface of a device, and its streams and arenas"),
    "CpuDevice": (40, "the interface of a device, and its threads and arenas"),
    "MathBuilder": (40, "shorthands for ops, one line each"),
    "BpeModel": (40, "the tables of one algorithm, which encoding and decoding share"),
    "TrainLoop": (40, "the order of steps, evaluations and checkpoints; a step, its batch and the cause of NaN are classes of their own"),
    "Machine": (40, "a record of rates"),
    "CheckpointWriter": (40, "one protocol between the loop, the ranks and the writing thread"),
    "GradEmitter": (40, "the loops of one kernel, whose values are its fields"),
    "ListScheduler": (40, "one algorithm, whose fields are its state"),
    "KernelFunction": (40, "the frame of a kernel: its arguments, block and threads"),
    "Interpreter": (35, "one walk over an entry, and what is in flight at its position"),
    "MpiCommunicator": (35, "the interface of a communicator"),
    "Emitter": (35, "shorthands for ops, one line each"),
    "CudaTarget": (35, "the interface of a target"),
    "TensorBuilder": (35, "shorthands for ops, one line each"),
    "Config": (42, "a reader of keys, one function for each type of value"),
    "RunOptions": (40, "a record of options"),
    "Translation": (35, "one pass over a pattern, a function for each construct"),
}

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|^[ \t]*#[^\n]*', re.S | re.M)
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?([\w:]+)(?:\s+final)?\s*(?::[^;{(]*)?\{")
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
NO_MEMBER = re.compile(r"friend\b|using\b|typedef\b|static_assert\b|(?:template\s*<[^{;]*>\s*)?(?:class|struct|enum|union)\b")
ARGUMENTS = re.compile(r"<[^<>]*>")


def declarations(text, begin):
    """Declarations of a class whose body begins at `begin`."""
    depth, start, at = 1, begin, begin
    while at < len(text) and depth:
        depth += (text[at] == "{") - (text[at] == "}")
        ends_body = text[at] == "}" and depth == 1 and text[at + 1:at + 200].lstrip()[:1] not in (";", ",", ")")
        if (text[at] == ";" and depth == 1) or ends_body:
            yield ACCESS.sub("", text[start:at + 1]).strip()
            start = at + 1
        at += 1


def members(declaration):
    """Number of members that a declaration declares; deleted and defaulted operators do not count."""
    head = declaration.split("{")[0]
    if not head or NO_MEMBER.match(declaration) or "= delete" in declaration or ("operator" in head and "default" in declaration):
        return 0
    while ARGUMENTS.search(head):
        head = ARGUMENTS.sub("", head)
    return 1 if "(" in head.split("=")[0] else 1 + head.count(",")


def sizes():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                text = COMMENT_OR_TEXT.sub("", path.read_text())
                for found in CLASS.finditer(text):
                    yield found[1], path.relative_to(ROOT).as_posix(), sum(map(members, declarations(text, found.end())))


def offences(classes):
    large = set()
    for name, path, count in classes:
        if count <= MAX_MEMBERS:
            continue
        large.add(name)
        limit, _ = LARGE.get(name, (MAX_MEMBERS, ""))
        if count > limit:
            yield (f"{path}: {name} has {count} members, expected at most {limit}: move an idea to a class of its own, "
                   "or write in test/structure/class_sizes.py why it is one class")
    yield from (f"test/structure/class_sizes.py: {name} has at most {MAX_MEMBERS} members; remove it from the list" for name in sorted(LARGE.keys() - large))


def main():
    classes = [*sizes()]
    assert len(classes) > 1000, f"only {len(classes)} classes were found"
    found = [*offences(classes)]
    print("\n".join(found) or f"{len(classes)} classes, {len(LARGE)} with more than {MAX_MEMBERS} members")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
