"""Holds the code of a plan's kernels to what is promised of it.

    kernel_code.py accesses PLAN.txt PTX         16-byte accesses, and no local memory
    kernel_code.py constants PLAN.txt PTX        loads past coherent caches (ld.global.nc) of nothing that a launch may write
    kernel_code.py registers LOG CLASS=N[+B] ... what `ptxas -v` says: at most N registers, and B bytes (none) spilled to the stack

PLAN.txt is what `trainc dump` prints. A class is what a kernel's name begins with; the longest that fits counts.
"""
import re
import sys

# Large operands are those from which on 16 bytes for each thread of a warp are there.
LARGE = 4096
WIDE = re.compile(r"\.v4\.[bfsu]32|\.v2\.[bfsu]64")
# Neighbouring threads have neighbouring numbers, or fragments of matrix instructions.
NARROW_LOADS = ("finish", "attention_row_sums")
NARROW_STORES = ("finish", "attention")


def operands(plan):
    """Of each kernel, the bytes of what it reads and of what it writes."""
    found = {}
    for name, text in re.findall(r"^kernel (\w+) .*?\((.*)\)$", plan, re.M):
        each = re.findall(r"(read|write|inout|read_write) \S+ bytes=(\d+)", text)
        found[name] = ([int(size) for use, size in each if use != "write"], [int(size) for use, size in each if use != "read"])
    return found


def accesses(plan_file, ptx_file):
    plan, ptx = open(plan_file).read(), open(ptx_file).read()
    entries = dict(re.findall(r"\.visible \.entry (\w+)\((.*?)\n\}", ptx, re.S))
    assert entries, f"expected kernels in {ptx_file}, found none"
    for name, (reads, writes) in operands(plan).items():
        body = entries[name]
        assert ".local" not in body, f"{name}: expected no local memory"
        for way, sizes, exempt in (("ld", reads, NARROW_LOADS), ("st", writes, NARROW_STORES)):
            found = re.findall(rf"{way}\.global[.\w]*", body)
            if max(sizes, default=0) >= LARGE and not name.startswith(exempt):
                assert any(WIDE.search(each) for each in found), f"{name}: expected 16-byte accesses, found {sorted(set(found))}"
    return sorted({name.rsplit("_", 1)[0] for name in entries})


def changing(plan):
    """Of each kernel, the numbers of parameters that are written, or may lie where one is."""
    found = {}
    for name, text in re.findall(r"^kernel (\w+) .*?\((.*)\)$", plan, re.M):
        params = re.findall(r"(read|write|inout|read_write) \S+ bytes=\d+((?: \w+=\[[\d, ]*\])?)", text)
        found[name] = {number for number, (use, _) in enumerate(params) if use != "read"}
        found[name] |= {int(each) for _, aliases in params for each in re.findall(r"\d+", aliases)}
    return found


def loads(body):
    """Each load from global memory, with the number of the parameter that its address is made of."""
    made = re.findall(r"^\s*(?:ld\.param|cvta|add|mad|mov|selp)[.\w]*\s+(%rd\d+), (.*);", body, re.M)
    origin = {}
    for _ in range(3):  # blocks of a loop may come before those that enter it
        for register, sources in made:
            known = re.findall(r"_param_(\d+)", sources) or [origin[each] for each in re.findall(r"%rd\d+", sources) if each in origin]
            if known:
                origin[register] = int(known[0])
    return [(load, origin.get(register)) for load, register in re.findall(r"(ld\.global[.\w]*)\s.*\[(%rd\d+)", body)]


def constants(plan_file, ptx_file):
    plan, ptx = open(plan_file).read(), open(ptx_file).read()
    entries = dict(re.findall(r"\.visible \.entry (\w+)\((.*?)\n\}", ptx, re.S))
    constant = coherent = 0
    for name, written in changing(plan).items():
        for load, param in loads(entries[name]):
            if ".nc" in load:
                assert param is not None and param not in written, f"{name}: expected no {load} of parameter {param}, which may change"
                constant += 1
            coherent += ".nc" not in load and param in written
    assert constant and coherent, f"expected loads of both kinds, found {constant} and {coherent}"
    return [f"constant: {constant}", f"of what may change: {coherent}"]


def registers(log_file, *bounds):
    bounds = {name: [int(number) for number in (text + "+0").split("+")[:2]] for name, text in (each.split("=") for each in bounds)}
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                       r"Used (\d+) registers", open(log_file).read(), re.S)
    assert found, f"expected kernels in {log_file}, found none"
    most = {}
    for name, *numbers in found:
        stack, stores, loads, used = map(int, numbers)
        kernel = max((each for each in bounds if name.startswith(each + "_")), key=len)
        limit, spilled = bounds[kernel]
        assert max(stack, stores, loads) <= spilled, f"{name}: expected a stack and spills of {spilled} bytes, found {stack}, {stores} and {loads}"
        assert used <= limit, f"{name}: expected at most {limit} registers, found {used}"
        most[kernel] = max(used, most.get(kernel, 0))
    return [f"{kernel}: {most[kernel]} of {bounds[kernel][0]}" for kernel in sorted(most)]


print("\n".join({"accesses": accesses, "constants": constants, "registers": registers}[sys.argv[1]](*sys.argv[2:])))
