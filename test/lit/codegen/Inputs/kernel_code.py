"""Holds the code of a plan's kernels to what is promised of it.

    kernel_code.py accesses PLAN.txt PTX [rows=COUNT] [tails=BYTES]   16-byte accesses of every large operand, no local memory
    kernel_code.py constants PLAN.txt PTX     loads past coherent caches (ld.global.nc) of nothing that a launch may write
    kernel_code.py registers PTXAS PTX CLASS=N ...   on all GPUs with machine code at most N registers, and none spilled

PLAN.txt is what `trainc dump` prints. A class is what a kernel's name begins with. COUNT is how many rows row kernels have, or COUNT,COUNT
for several; BYTES what a row takes that is not a multiple of 16 bytes long, so that its last numbers move alone.
"""
import collections
import re
import subprocess
import sys

# Minimum size of a large operand: 16 bytes for each thread of a block of 256.
LARGE, WIDE = 4096, 16
LEVELS = ("sm_80", "sm_90", "sm_100")
BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "u8": 1}
Operand = collections.namedtuple("Operand", "use type bytes aliases")

NEIGHBOURS = "neighbouring threads have neighbouring numbers"
FRAGMENTS = "matrix instructions leave two numbers of a row in a thread"
# Operands that move in accesses of fewer bytes: classes, ld or st, which operands, the bytes at least, and the reason.
NARROW = [
    ("finish", "ld st", lambda each, most: True, 2, NEIGHBOURS + ": a column, or a piece of the sum, for each"),
    ("attention_row_sums", "ld", lambda each, most: True, 4, NEIGHBOURS + ": a warp reads a head's row at once"),
    ("attention attention_grad_q attention_grad_kv", "st", lambda each, most: each.bytes == most, 4, FRAGMENTS),
    ("attention attention_grad_q attention_grad_kv attention_row_sums", "ld st", lambda each, most: each.type == "f32" and each.bytes * 32 <= most,
     4, "a number for each row of a head"),
    ("scatter_pieces", "ld st", lambda each, most: each.type in ("i32", "i64"), 4, NEIGHBOURS + ": an id, or a place, for each"),
    ("scatter_rows", "ld", lambda each, most: each.use == "read_write", 0, "rows are replaced, and not read"),
    ("rows", "ld st", lambda each, most: each.type == "u8" and each.bytes * 4 == most, 4, "a byte beside each of four numbers"),
    ("rows", "ld st", lambda each, most: each.type == "u8" and each.bytes * 2 == most, 8, "a byte beside each of eight numbers"),
]


def class_of(kernel):
    return kernel.rsplit("_", 1)[0]


def kernels(plan_file, ptx_file):
    """For each kernel of a plan, by name: its grid, its operands in parameter order, and its code."""
    plan, ptx = open(plan_file).read(), open(ptx_file).read()
    entries = dict(re.findall(r"\.visible \.entry (\w+)\((.*?)\n\}", ptx, re.S))
    assert entries, f"expected kernels in {ptx_file}, found none"
    # Kernels that differ in a random stream call one function, with the same parameters first and generic addresses.
    functions = {name: re.sub(r"\b(ld|st)\.(?=(?:v\d\.)?[bfsu]\d)", r"\1.global.", body)
                 for name, body in re.findall(r"^\.func (\w+)\((.*?)\n\}", ptx, re.S | re.M)}
    for name, body in entries.items():
        if call := re.search(r"\bcall\.uni (\w+)", body):
            entries[name] = functions[call[1]]
    found = {}
    for name, grid, text in re.findall(r"^kernel (\w+) \w+ grid=(\d+) .*?\((.*)\)$", plan, re.M):
        each = re.findall(r"(read|write|inout|read_write) (\w+) bytes=(\d+)((?: \w+=\[[\d, ]*\])?)", text)
        operands = [Operand(use, kind, int(size), {int(i) for i in re.findall(r"\d+", aliases)}) for use, kind, size, aliases in each]
        found[name] = int(grid), operands, entries[name]
    return found


def accesses_of(body):
    """Each access of global memory: ld or st, its text, its bytes, and the parameters that its address is made of."""
    made = re.findall(r"^\s*(?!ld\.(?:global|shared))[\w.:]+\s+(%rd\d+), (.*);", body, re.M)
    origins, before = collections.defaultdict(set), -1
    while before != (before := sum(map(len, origins.values()))):  # blocks of a loop may come before those that enter it
        for register, sources in made:
            origins[register] |= {int(number) for number in re.findall(r"_param_(\d+)", sources)}
            origins[register].update(*(origins[each] for each in re.findall(r"%rd\d+", sources)))
    found = []
    for text, way, address in re.findall(r"\b((ld|st)\.global[.\w]*)\s.*?\[(%rd\d+)", body):
        lanes, bits = re.fullmatch(r".*?(?:\.v(\d))?\.[bfsu](\d+)", text).groups()
        assert origins[address], f"expected {text} of a parameter"
        found.append((way, text, int(lanes or 1) * int(bits) // 8, origins[address]))
    return found


def least_bytes(kernel, way, operand, operands, rows):
    """Expected access size for an operand: 16, or its exemption."""
    if operand.bytes // BYTES[operand.type] in rows:
        return BYTES[operand.type]  # a number for each row, or each tile
    most = max(each.bytes for each in operands)
    return min((least for names, ways, holds, least, _ in NARROW if kernel in names.split() and way in ways and holds(operand, most)), default=WIDE)


def accesses(plan_file, ptx_file, *settings):
    settings = dict(each.split("=") for each in settings)
    rows = {int(each) for each in settings.get("rows", "").split(",") if each}
    tails = int(settings.get("tails", 0))
    found = kernels(plan_file, ptx_file)
    for name, (grid, operands, body) in found.items():
        assert ".local" not in body, f"{name}: expected no local memory"
        each_access = accesses_of(body)
        for number, operand in enumerate(operands):
            for way in ("ld", "st"):
                if operand.bytes < LARGE or operand.use == ("write" if way == "ld" else "read"):
                    continue
                sizes = [size for access, _, size, params in each_access if access == way and number in params]
                least = least_bytes(class_of(name), way, operand, operands, rows | {grid})
                counts = max(sizes, default=0) if tails and operand.bytes % tails == 0 else min(sizes, default=0)
                assert counts >= least, f"{name}: expected accesses ({way}) of {least} bytes of operand {number} ({operand.bytes} bytes of {operand.type}), " \
                                        f"found those of {sorted(set(sizes))}"
    return sorted(set(map(class_of, found)))


def constants(plan_file, ptx_file):
    constant = coherent = 0
    for name, (_, operands, body) in kernels(plan_file, ptx_file).items():
        # Parameters that are written, or may lie where one is.
        changing = {number for number, each in enumerate(operands) if each.use != "read"}.union(*(each.aliases for each in operands))
        for way, text, _, params in accesses_of(body):
            if ".nc" in text:
                assert not params & changing, f"{name}: expected no {text} of parameter {min(params & changing)}, which may change"
                constant += 1
            coherent += way == "ld" and ".nc" not in text and bool(params & changing)
    assert constant and coherent, f"expected loads of both kinds, found {constant} and {coherent}"
    return [f"constant: {constant}", f"of what may change: {coherent}"]


def assembled(ptxas, ptx_file, level):
    """Output of `ptxas -v` for each kernel: stack bytes, spill stores and loads, and registers."""
    done = subprocess.run([ptxas, "-v", f"-arch={level}", ptx_file, "-o", ptx_file + ".cubin"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                       r"Used (\d+) registers", done.stderr, re.S)
    return {name: tuple(map(int, numbers)) for name, *numbers in found}


def registers(ptxas, ptx_file, *bounds):
    bounds = {name: int(number) for name, number in (each.split("=") for each in bounds)}
    threads = {name: int(count) for name, count in re.findall(r"\.visible \.entry (\w+)\([^)]*\)\s*\.reqntid (\d+)", open(ptx_file).read())}
    most = collections.Counter()
    for level in LEVELS:
        found = assembled(ptxas, ptx_file, level)
        assert found and set(found) == set(threads), f"expected all kernels of {ptx_file}, found {sorted(found)}"
        for name, (*spilled, used) in found.items():
            kernel = class_of(name)
            assert not any(spilled), f"{name}: expected no stack and no spills on {level}, found {spilled} bytes"
            if threads[name] > 32:  # of blocks of one warp a multiprocessor has registers for several, however many they take
                assert used <= bounds[kernel], f"{name}: expected at most {bounds[kernel]} registers on {level}, found {used}"
                most[kernel] = max(used, most[kernel])
    return [f"{kernel}: {most[kernel]} of {bounds[kernel]}" for kernel in sorted(most)]


print("\n".join({"accesses": accesses, "constants": constants, "registers": registers}[sys.argv[1]](*sys.argv[2:])))
