"""`trainc report`: the text, the JSON, and the page in a headless browser."""

import json
import math
import os
import re
import struct
import subprocess
import unittest
from pathlib import Path

import browser
import harness
from harness import MAKE_TOY_PLAN, TRAINC

SHARDED = ["--ranks=2", "--zero-stage=3", "--memory-limit=1GiB"]

# Boxes of all texts on a page, including those of canvases, as [text, left, top, right, bottom].
RECORD_CANVAS_TEXTS = """
const drawn = new Map(), draw = CanvasRenderingContext2D.prototype.fillText, resize = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "height");
Object.defineProperty(HTMLCanvasElement.prototype, "height", {...resize, set(value) { drawn.delete(this); resize.set.call(this, value); }});
CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
  const {width} = this.measureText(text), left = x - {left: 0, center: width / 2, right: width}[this.textAlign];
  drawn.set(this.canvas, [...(drawn.get(this.canvas) || []), [text, left, y - 6, left + width, y + 6]]);
  draw.call(this, text, x, y);
};
window.textBoxes = () => {
  const boxes = [];
  for (const [canvas, texts] of drawn) {
    const {left, top} = canvas.getBoundingClientRect();
    boxes.push(...texts.filter(([text]) => text).map(([text, l, t, r, b]) => [text, l + left, t + top, r + left, b + top]));
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    if (walker.currentNode.textContent.trim() && walker.currentNode.parentElement.checkVisibility())
      for (const {left, top, right, bottom} of range.getClientRects())
        boxes.push([walker.currentNode.textContent, left, top + 3, right, bottom - 3]);
  }
  return boxes;
};
"""


def document_of(page):
    """The JSON in a page."""
    return json.loads(re.search(r'<script id="document" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def alive_at(entry, moment):
    """The values of an entry that are there at a moment: places in its lists."""
    values = entry["values"]
    return [i for i, (begin, end) in enumerate(zip(values["begin"], values["end"])) if begin <= moment < end]


def name_of(entry, moment):
    """The instruction of a moment as `trainc dump` numbers it."""
    index, iterations = entry["moments"]["index"], entry["moments"]["iterations"][moment]
    return f"{index[moment]}.{moment - index.index(index[moment])}" if iterations else str(index[moment])


class Document(harness.EndToEndTest):
    def document(self, *options):
        self.compile(harness.program("gpt"), "--report=compiled.json", *options)
        out, _ = self.trainc("report", "model.plan", "--json")
        return json.loads(out), json.loads(Path("compiled.json").read_text())

    def test_numbers_are_those_of_the_compiler(self):
        for options in ([], SHARDED, ["--accumulate=2"], ["--ranks=2", "--zero-stage=2", "--precision=bf16"]):
            with self.subTest(options):
                report, compiled = self.document(*options)
                verdict = report["verdict"]
                self.assertEqual(verdict["peak_bytes"], compiled["memory"]["peak"])
                self.assertEqual(verdict["unplanned_bytes"], compiled["memory"]["unplanned"])
                self.assertEqual(verdict["flops_per_step"], compiled["flops_per_step"])
                self.assertEqual(report["tree"]["parameters"][0], compiled["parameters"])
                self.assertEqual(sum(part["bytes"] for part in report["peak"]["parts"]), compiled["memory"]["peak"])
                self.assertEqual({each["kind"].replace("-", "_"): {"count": each["count"], "bytes": each["sent_bytes"]} for each in report["collectives"]},
                                 compiled["collectives"])
                keys = ("setting", "value", "source")
                self.assertEqual(*([{key: each[key] for key in keys} for each in settings] for settings in (report["settings"], compiled["settings"])))
                for kind, role in (("parameters", "parameters"), ("gradients", "gradients"), ("optimizer states", "optimizer")):
                    held = sum(size for size, of, arena in zip(*(report["buffers"][key] for key in ("bytes", "kind", "arena")))
                               if report["kinds"][of] == kind and report["arenas"][arena]["persistent"])
                    self.assertEqual(held, compiled["memory"][role], kind)

    def test_only_what_could_be_made_again_has_a_price(self):
        """Neither values fetched from disk nor gradients count, although products at the same lines compute these: for c_proj's two weights they
        take 32 KiB."""
        for options in ([], ["--accumulate=2", "--offload=optimizer,gradients", "--offload-group=16KiB"]):
            with self.subTest(options):
                made = {each["what"]: each["bytes"] for each in self.document(*options)[0]["recomputable"]}
                self.assertLessEqual(made["h.*.mlp.c_proj: nn.matmul"], 2 * 3 * 16 * 32 * 4)
                self.assertFalse([what for what in made if "train." in what], made)

    def test_what_offload_would_save_and_copy(self):
        """Pieces of offloaded states are in memory in turn, and small tensors stay. So slightly less is saved and copied than reported."""
        for options, word in ((["--accumulate=2"], "optimizer"), (["--accumulate=2"], "gradients"), ([], "parameters"), (SHARDED, "optimizer"),
                              (["--ranks=2", "--accumulate=2"], "gradients")):
            with self.subTest(word, options=options):
                plain, compiled = self.document(*options)
                offloadable = plain["offloadable"]
                self.assertEqual((offloadable["to"], compiled["offload_to"]), ("disk", "disk"))
                (move,) = [each for each in offloadable["kinds"] if each["offload"] == word]
                self.assertEqual(move["bytes"], compiled["memory"][word])
                moved, offloaded = self.document(*options, f"--offload={word}", "--offload-group=16KiB")
                saved = compiled["memory"][word] - offloaded["memory"][word]
                self.assertTrue(0.7 * move["bytes"] < saved <= move["bytes"], (saved, move))
                copied = sum(entry["runs_per_step"] * self.bytes_on_disk(entry["name"]) for entry in moved["entries"])
                seconds = copied * moved["plan"]["ranks"] / 1e9  # the ranks of the machine of reference share a disk of so many bytes a second
                self.assertTrue(0.7 * move["seconds"] < seconds <= move["seconds"], (seconds, move))
                self.assertNotIn(word, [each["offload"] for each in moved["offloadable"]["kinds"]])

    def test_how_often_working_copies_are_fetched_is_not_known(self):
        for options in (["--precision=bf16"], ["--ranks=2"]):
            offloadable = {each["offload"]: each["seconds"] for each in self.document(*options)[0]["offloadable"]["kinds"]}
            self.assertIsNone(offloadable["parameters"], options)
            self.assertGreater(offloadable["optimizer"], 0, options)

    def bytes_on_disk(self, entry):
        """Copies between spaces in an entry of model.plan."""
        dump, _ = self.trainc("dump", "model.plan")
        body = re.search(rf"^entry {entry}\b.*?(?=^\S)", dump, re.MULTILINE | re.DOTALL)
        return sum(map(int, re.findall(r"copy .* bytes=(\d+) on disk", body[0])))

    def test_what_lies_outside_is_listed_by_kind(self):
        report, compiled = self.document("--offload=optimizer,activations", "--offload-group=16KiB")
        verdict, disk = report["verdict"], compiled["offloaded_memory"]["disk"]
        self.assertEqual((verdict["host_bytes"], verdict["host_kinds"]), (0, {}))
        self.assertEqual(verdict["disk_bytes"], sum(disk.values()))
        self.assertEqual({kind.removesuffix(" states"): size for kind, size in verdict["disk_kinds"].items()}, {kind: size for kind, size in disk.items() if size})
        self.assertEqual(set(verdict["disk_kinds"]), {"optimizer states", "activations"})
        self.assertRegex(verdict["sentence"], r"; \d\S* KiB on disk \(optimizer states \d\S* KiB, activations \d\S* KiB\)")

    def test_the_tree_sums_to_the_plan(self):
        for options in (SHARDED, ["--accumulate=2", "--activation-checkpointing=full"]):
            with self.subTest(options):
                report, compiled = self.document(*options)
                tree, memory = report["tree"], compiled["memory"]
                names = [""]
                for name, parent in zip(tree["name"][1:], tree["parent"][1:]):
                    names.append(f"{names[parent]}.{name}".lstrip("."))
                dump, _ = self.trainc("dump", "model.plan")
                parameters = {name: math.prod(int(size) for size in shape.split(",") if size)
                              for name, shape in re.findall(r"^state (\S+) f32 \[([^]]*)\] parameter ", dump, re.MULTILINE)}
                self.assertEqual(sum(parameters.values()), compiled["parameters"])
                for name, count in zip(names, tree["parameters"]):
                    self.assertEqual(count, sum(size for of, size in parameters.items() if f"{of}.".startswith(name and f"{name}.")), name)
                for key, root in (("flops", sum(each["count"] * each["flops"] for each in compiled["costs"])),
                                  ("touched_bytes", sum(each["count"] * each["bytes"] for each in compiled["costs"])),
                                  ("persistent_bytes", memory["parameters"] + memory["gradients"] + memory["optimizer"])):
                    self.assertEqual(tree[key][0], root, key)
                    parts = [0] * len(names)
                    for parent, number in zip(tree["parent"][1:], tree[key][1:]):
                        parts[parent] += number
                    for name, whole, part in zip(names, tree[key], parts):
                        self.assertLessEqual(part, whole, (key, name))
                self.assertEqual(tree["flops"][0], compiled["flops_per_step"] + compiled.get("recomputed_flops_per_step", 0))

    def test_a_step_is_the_sum_of_its_runs(self):
        """The first micro-step of a step waits for stores of the one before, and takes longer than the others."""
        self.trainc("compile", harness.ROOT / "examples" / "gpt" / "small.mlir", "-o", "model.plan", "--accumulate=3", "--micro-batch=1", "--offload=optimizer")
        report = json.loads(self.trainc("report", "model.plan", "--json")[0])
        first, others = [each for each in report["step"] if each["entry"] == "micro_step"]
        self.assertEqual((first["runs"], others["runs"]), (1, 2))
        self.assertGreater(first["seconds"], 1.2 * others["seconds"])
        self.assertAlmostEqual(sum(each["runs"] * each["seconds"] for each in report["step"]), report["verdict"]["step_seconds"], delta=1e-7)
        lines = re.findall(r"^  micro_step +(\S+) ms(, the first|, 2 times)$", self.trainc("report", "model.plan")[0], re.MULTILINE)
        self.assertEqual([(round(float(ms) * 1e-3, 5), times) for ms, times in lines],
                         [(round(first["seconds"], 5), ", the first"), (round(others["seconds"], 5), ", 2 times")])
        self.trainc("compile", harness.ROOT / "examples" / "gpt" / "small.mlir", "-o", "other.plan")
        groups = json.loads(self.trainc("report", "other.plan", "model.plan", "--json")[0])["groups"]
        rows = {row["what"]: row["to"] for group in groups for row in group["rows"]}
        self.assertAlmostEqual(sum(seconds or 0 for what, seconds in rows.items() if what.startswith("all runs of ")), rows["a step"], delta=1e-7)

    def test_ranks_of_a_host_share_its_cores(self):
        """So says the simulator, of the machine that plans are made for."""
        alone, _ = self.document()
        report, _ = self.document("--ranks=2", "--zero-stage=3")
        seconds = json.loads(self.trainc("simulate", "model.plan", "--cluster=cpu", "--json")[0])["step_seconds"]
        self.assertAlmostEqual(report["verdict"]["step_seconds"], seconds, delta=1e-7)
        self.assertGreater(seconds, 1.8 * alone["verdict"]["step_seconds"])

    def test_no_two_values_share_a_byte_at_any_moment(self):
        report, _ = self.document(*SHARDED)
        for entry in report["entries"]:
            for moment in range(len(entry["moments"]["index"])):
                spans = sorted((entry["values"]["offset"][i], entry["values"]["bytes"][i]) for i in alive_at(entry, moment))
                for (offset, size), (other, _) in zip(spans, spans[1:]):
                    self.assertLessEqual(offset + size, other, (entry["name"], moment))
                if spans:
                    self.assertLessEqual(sum(spans[-1]), report["arenas"][1]["bytes"])
        # Some entry needs the last of the scratch arena's bytes, but for padding.
        reach = max(peak["reach_bytes"] for entry in report["entries"] for peak in entry["peaks"])
        self.assertLess(report["arenas"][1]["bytes"] - reach, 64)

    def test_seconds_are_those_of_the_compiler(self):
        """For a GPU plan the compiler also predicts the plan's own machine."""
        self.trainc("compile", harness.GOLDEN / "gpt" / "gpt.mlir", "-o", "gpu.plan", "--target=cuda", "--gpu-levels=none", "--ranks=2", "--zero-stage=3", "--report=gpu.json")
        verdict, compiled = json.loads(self.trainc("report", "gpu.plan", "--json")[0])["verdict"], json.loads(Path("gpu.json").read_text())
        self.assertAlmostEqual(verdict["step_seconds"], compiled["predicted_step_seconds"], delta=2e-8)
        self.assertAlmostEqual(verdict["communication_seconds"], compiled["predicted_communication_seconds"], delta=2e-8)
        self.assertAlmostEqual(verdict["exposed_seconds"], compiled["predicted_communication_seconds"] * compiled["predicted_exposed_share"], delta=2e-8)
        self.assertGreater(verdict["exposed_seconds"], 1e-6)

    def test_a_limit_and_what_it_leaves(self):
        report, _ = self.document(*SHARDED)
        verdict = report["verdict"]
        self.assertEqual(verdict["limit_bytes"], 1 << 30)
        self.assertEqual(verdict["headroom_bytes"], (1 << 30) - verdict["peak_bytes"] - verdict["unplanned_bytes"])
        self.assertRegex(verdict["sentence"], r"^Fits: needs .* on each rank .* of 1\.00 GiB allowed, .* to spare\. A step is predicted to take .*; of .* of communication, .* are exposed, .* % of the step\.$")
        self.assertGreater(verdict["communication_seconds"], verdict["exposed_seconds"])


class Text(harness.EndToEndTest):
    def test_a_summary_and_what_changed(self):
        self.compile(harness.program("gpt"), to="one.plan")
        self.compile(harness.program("gpt"), *SHARDED, to="two.plan")
        out, _ = self.trainc("report", "one.plan")
        self.assertRegex(out, r"^gpt \(one\.plan\): target cpu, one rank\nNeeds .*, no limit was given\. A step is predicted to take ")
        for part in ("\nThe peak, at instruction ", "\n  activations ", "\nBlocks that hold most of it:\n", "\n  micro_step ", "\nRecomputing values would save", "\nProven of this plan:\n"):
            self.assertIn(part, out)
        out, _ = self.trainc("report", "one.plan", "two.plan")
        self.assertRegex(out, r"\nSettings:\n(  .*\n)*  zero_stage +0 -> 3 ")
        self.assertRegex(out, r"\n  planned peak +\S+ \S+ -> ")
        self.assertRegex(out, r"\nCollectives of a step:\n(  .*\n)*  all-gather +none -> \d+")
        out, _ = self.trainc("report", "one.plan", "one.plan", "--json")
        self.assertEqual([group["rows"] for group in json.loads(out)["groups"]], [[]] * 7)

    def test_settings_that_were_decided_and_sizes(self):
        """Decisions under the memory limit are shown with it; sizes have one spelling, whatever their origin."""
        ranks = ["--ranks=2", "--zero-stage=3"]
        self.compile(harness.program("gpt"), *ranks, to="plain.plan")
        limited = [*ranks, "--memory-limit=80MiB", "--activation-checkpointing=none", "--offload=optimizer"]
        self.compile(harness.program("gpt"), *limited, to="decided.plan")
        self.compile(harness.program("gpt"), *limited, "--offload-group=16MiB", to="given.plan")
        out, _ = self.trainc("report", "decided.plan")
        settings = out[out.index("\nSettings that were given or decided:\n"):]
        self.assertRegex(settings, r"\n  memory_limit +80\.0 MiB +--memory-limit\n")
        self.assertRegex(settings, r"\n  offload_group +16\.0 MiB +derived: bytes of offloaded states\n")
        self.assertNotIn("eval_batch", settings)
        settled = [*ranks, "--activation-checkpointing=none", "--offload=optimizer"]
        self.compile(harness.program("gpt"), *settled, "--report=fits.json", to="fits.plan")
        memory = json.loads(Path("fits.json").read_text())["memory"]
        self.compile(harness.program("gpt"), *settled, f"--memory-limit={memory['peak'] + memory['unplanned'] - 1}", to="tight.plan")
        out, _ = self.trainc("report", "tight.plan")
        self.assertRegex(out, r"\n  \w+ +\S+ +derived: memory_limit\n")
        out, _ = self.trainc("report", "decided.plan", "given.plan")
        self.assertIn("\nSettings: nothing changed\n", out)
        out, _ = self.trainc("report", "plain.plan", "given.plan")
        self.assertRegex(out, r"\n  memory_limit +none -> 80\.0 MiB ")
        self.assertNotIn("offload_group", out)

    def test_bad_input(self):
        subprocess.run([MAKE_TOY_PLAN, "toy.plan"], check=True)
        plan = bytearray(Path("toy.plan").read_bytes())
        for name in ("text", "text.html"):
            Path(name).write_text("no plan\n")
        Path("full.html").symlink_to("/dev/full")
        Path("short.plan").write_bytes(plan[:-1])
        Path("newer.plan").write_bytes(plan[:8] + struct.pack("<I", 99) + plan[12:])
        Path("damaged.plan").write_bytes(plan[:200] + bytes([plan[200] ^ 1]) + plan[201:])
        for command, expected in ((["text"], "error: text: "), (["short.plan"], "error: short.plan: "), (["newer.plan"], "is newer than this program's"),
                                  (["damaged.plan"], "error: damaged.plan: "), (["missing.plan"], "error: missing.plan: "), ([], "PLAN is required"),
                                  (["toy.plan", "text"], "error: text: "), (["toy.plan", "-o", "toy.plan"], "error: -o toy.plan"),
                                  (["toy.plan", "-o", "missing/x.html"], "error: -o missing/x.html: the folder 'missing' does not exist"),
                                  (["toy.plan", "-o", "x.txt"], "error: -o x.txt: expected a name that ends with .html, as what is written is a page for browsers; "
                                   "add .html, or leave -o out to print text, or JSON with --json"),
                                  (["toy.plan", "-o", "text.html"], "error: -o text.html: the file holds something else than a page of trainc report, which would be lost; "
                                   "give another name, or delete it"),
                                  (["toy.plan", "-o", "full.html"], "error: -o full.html"), (["toy.plan", "-o", "x.html", "--json"], "--json"), (["toy.plan", "-q"], "--output")):
            with self.subTest(command):
                self.fails([TRAINC, "report", *command], 2, expected)
        self.assertFalse(Path("x.html").exists() or Path("x.txt").exists())
        self.assertEqual(Path("toy.plan").read_bytes(), plan)
        self.assertEqual(Path("text.html").read_text(), "no plan\n")
        for _ in range(2):  # pages begin anew
            self.assertEqual(self.trainc("report", "toy.plan", "-o", "x.html"), ("", "wrote x.html: a page about toy.plan\n"))
            self.assertEqual(self.trainc("report", "toy.plan", "-o", "x.html", "-q"), ("", ""))
        with open("/dev/full", "w") as full:
            done = subprocess.run([TRAINC, "report", "toy.plan"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)


class Page(harness.EndToEndTest):
    """The page in a browser shows the content of its document."""

    def setUp(self):
        super().setUp()
        self.assertTrue(browser.PROGRAM, "expected chromium-headless-shell or chromium, found neither; scripts/setup.sh installs the first")

    def show(self, page, width=1280, dark=False):
        """Opens a page, which must make itself without an error."""
        shown = self.enterContext(browser.Browser(width, 900, dark))
        shown.call("Page.addScriptToEvaluateOnNewDocument", source=RECORD_CANVAS_TEXTS)
        shown.open(page)
        self.assertIsNone(shown.evaluate("document.documentElement.dataset.error"))
        self.assertEqual(shown.evaluate("document.documentElement.dataset.ready"), "yes")
        return shown

    def report(self, *options):
        self.compile(harness.program("gpt"), *options)
        self.trainc("report", "model.plan", "-o", "plan.html")
        return document_of(Path("plan.html").read_text())

    def test_shows_what_the_plan_says(self):
        report = self.report(*SHARDED, "--largest-batch")
        page = self.show("plan.html")
        self.assertEqual(page.evaluate("document.getElementById('verdict').textContent"), report["verdict"]["sentence"])
        self.assertEqual(int(page.evaluate("document.getElementById('verdict').dataset.peak")), report["verdict"]["peak_bytes"])
        entry = next(each for each in report["entries"] if each["name"] == report["peak"]["entry"])
        held = sum(entry["values"]["bytes"][i] for i in alive_at(entry, report["peak"]["moment"]))
        now = page.evaluate("document.getElementById('now').textContent")
        self.assertEqual(report["peak"]["instruction"], name_of(entry, report["peak"]["moment"]))
        self.assertIn(f"The peak, at instruction {report['peak']['instruction']}: ", now)
        self.assertIn(f"{held:,} bytes held".replace(",", "\u202f"), now)
        self.assertEqual(page.evaluate("document.querySelectorAll('#proofs li').length"), len(report["proofs"]))
        settings = page.evaluate("[...document.querySelectorAll('#settings-table tbody tr')].map(row => [row.children[0].textContent, row.children[1].textContent])")
        self.assertEqual([name for name, _ in settings], [each["setting"] for each in report["settings"] if not each["is_default"]])
        self.assertIn(["memory_limit", "1.00 GiB"], settings)
        batches = [str(each["samples"]) for each in report["largest_batches"]["batches"]]
        self.assertEqual(len(batches), 3)
        shown = page.evaluate("[...document.querySelectorAll('#largest-batches tbody tr')].map(row => row.children[1].textContent.replaceAll('\\u202f', '')).join()")
        self.assertEqual(shown, ",".join(batches))
        offloadable = page.evaluate("[...document.querySelectorAll('#offloadable tbody tr')].map(row => row.children[0].textContent)")
        self.assertEqual(offloadable, [f"--offload={each['offload']}" for each in report["offloadable"]["kinds"]])
        self.assertEqual(page.evaluate("performance.getEntriesByType('resource').length"), 0) # no other file, no network

    def test_colours_and_heights_compare(self):
        """No colour stands for two things, and the same bytes are equally high on both sides of the diagram."""
        self.report()
        for dark in (False, True):
            page = self.show("plan.html", dark=dark)
            colours = page.evaluate("[...report.kinds.map(kindVariable), ...kClasses.map(([kind]) => kind), 'mark'].map(colour)")
            self.assertEqual(len(colours), 16)
            self.assertTrue(all(re.fullmatch("#[0-9a-f]{6}", each) for each in colours), colours)
            self.assertEqual(len(set(colours)), len(colours), colours)
        heights = page.evaluate("""[...persistentArenas(), report.arenas.findIndex(each => !each.persistent)].map(arena => {
            const plot = new Plot(1000, report.entries.find(each => each.name === 'micro_step'), arena, 'order', [0, 1]);
            return [report.arenas[arena].bytes, plot.y(0) - plot.y(1 << 20)];
        })""")
        self.assertGreater(len(heights), 1)
        self.assertGreater(len({arena for arena, _ in heights}), 1)
        self.assertEqual(len({height for _, height in heights}), 1, heights)

    def test_shows_what_changed(self):
        for name, limit in (("one", "64MiB"), ("two", "1GiB")):
            self.compile(harness.program("gpt"), f"--memory-limit={limit}", to=f"{name}.plan")
        self.trainc("report", "one.plan", "two.plan", "-o", "changed.html")
        self.assertEqual(self.show("changed.html").evaluate("[...document.querySelectorAll('#group1 tbody tr td')].map(cell => cell.textContent)"), ["memory_limit", "64.0 MiB", "1.00 GiB"])

    def test_marks_all_exposed_communication(self):
        """The bytes marked by drawMoment() sum to those of the verdict."""
        for options in (SHARDED, ["--ranks=2", "--zero-stage=2", "--accumulate=2"]):
            with self.subTest(options):
                report = self.report(*options)
                marked, parts = self.show("plan.html").evaluate("""report.entries.reduce(([seconds, count], entry) => {
                    const {stream, begin} = entry.moments, link = entry.streams.findIndex(each => each.name === "communication");
                    const parts = stream.flatMap((of, moment) => of === link ? exposedParts(entry, begin[moment], momentEnd(entry, moment)) : []);
                    return [seconds + entry.runs_per_step * parts.reduce((sum, [from, to]) => sum + to - from, 0), count + entry.runs_per_step * parts.length];
                }, [0, 0])""")
                self.assertGreater(parts, 0)
                self.assertAlmostEqual(marked, report["verdict"]["exposed_seconds"], delta=2e-9 * (parts + 1))  # of rounding
                self.assertGreater(marked, 20e-9 * parts)

    def test_says_what_is_pointed_at(self):
        report = self.report(*SHARDED)
        page = self.show("plan.html")
        entry = next(each for each in report["entries"] if each["name"] == report["peak"]["entry"])
        names = report["buffers"]["name"]
        value = max(alive_at(entry, report["peak"]["moment"]), key=lambda i: entry["values"]["bytes"][i])
        x, y = page.evaluate(f"""(() => {{
            const entry = report.entries.find(each => each.name === "{entry['name']}"), over = document.querySelector("canvas.over"), box = over.getBoundingClientRect();
            scrollTo(0, box.top - 50);
            const plot = new Plot(box.width, entry, 1, "time", [0, entry.seconds]), [from, to] = valueSpan(entry, {value}, "time");
            const {{left, top}} = over.getBoundingClientRect();
            return [left + plot.x((from + to) / 2), top + plot.y(entry.values.offset[{value}] + entry.values.bytes[{value}] / 2)];
        }})()""")
        page.point_at(x, y)
        tip = page.evaluate("[document.getElementById('tip').hidden, document.getElementById('tip').textContent]")
        self.assertFalse(tip[0])
        source = entry["moments"]["source"][entry["values"]["begin"][value]]
        self.assertIn(names[entry["values"]["buffer"][value]], tip[1])
        self.assertIn(report["sources"]["op"][source][:40], tip[1])
        self.assertIn(f"model.mlir:{report['sources']['line'][source]}", tip[1])
        first, last = entry["values"]["begin"][value], entry["values"]["end"][value] - 1
        self.assertIn(f"instructions {name_of(entry, first)} to {name_of(entry, last)}", tip[1])

    def test_what_was_chosen_among_is_judged_as_in_the_terminal(self):
        """A GPU plan, whose limit excludes host memory."""
        gpu = [harness.GOLDEN / "gpt" / "gpt.mlir", "--target=cuda"]
        given = [*gpu, "--offload=optimizer", "--activation-checkpointing=none"]
        (strategy,) = json.loads(self.trainc("estimate", *given, "--json")[0])["strategies"]
        limit = strategy["needed_bytes"]
        self.assertEqual(limit, strategy["memory"]["peak"] - strategy["memory"]["host"] + strategy["memory"]["unplanned"])
        _, table = self.trainc("compile", *gpu, f"--memory-limit={limit}", "--gpu-levels=none", "-o", "gpu.plan", "--report=gpu.json")
        lines = [re.split(r"  +", line.strip()) for line in table.partition("\ntook ")[0].splitlines()]
        self.assertEqual(lines[1][-1], "verdict")
        terminal = [line[-1] for line in lines[2:] if len(line) > 1]
        self.trainc("report", "gpu.plan", "-o", "gpu.html")
        planner = json.loads(Path("gpu.json").read_text())["planner"]
        verdicts = [each["verdict"] for each in planner["strategies"]]
        missed = [verdict for verdict in verdicts if verdict.endswith(" too much")]
        self.assertEqual(verdicts[:len(verdicts) - len(missed)][:10] + missed[:10], terminal)
        rows = self.show("gpu.html").evaluate("""(() => {
            document.querySelector("#peak .more")?.click();
            return [...document.querySelectorAll("#strategies tbody tr")].map(row => row.lastElementChild.textContent);
        })()""")
        self.assertEqual(rows, verdicts)
        outside = [each["verdict"] for each in planner["strategies"] if each["memory"]["host"] and each["memory"]["peak"] + each["memory"]["unplanned"] > limit]
        self.assertTrue({"the fastest that fits"} < set(outside), outside)

    def test_answers_to_keys(self):
        report = self.report()
        page = self.show("plan.html")
        entry = next(each for each in report["entries"] if each["name"] == report["peak"]["entry"])
        page.evaluate("document.querySelector('canvas.over').focus()")
        for key, expected in (("ArrowLeft", report["peak"]["moment"] - 1), ("Home", 0), ("p", report["peak"]["moment"])):
            page.press(key, key if len(key) == 1 else "")
            self.assertIn(f"nstruction {name_of(entry, expected)}:", page.evaluate("document.querySelector('#now h3').textContent"))
        rows = "document.querySelectorAll('#tree tbody tr').length"
        before = page.evaluate(rows)
        page.evaluate("document.querySelector('#tree tbody tr[aria-expanded=false]').focus()")
        page.press("ArrowRight")
        self.assertGreater(page.evaluate(rows), before)

    def test_every_entry_can_be_shown(self):
        report = self.report("--accumulate=2")
        page = self.show("plan.html")
        for number, entry in enumerate(report["entries"]):
            page.evaluate(f"document.querySelectorAll('#memory [aria-label=entry] button')[{number}].click()")
            self.assertIn("nstruction", page.evaluate("document.querySelector('#now h3').textContent"), entry["name"])
            self.assertIsNone(page.evaluate("document.documentElement.dataset.error"))

    def test_no_text_lies_over_another_and_nothing_is_cut_off(self):
        self.report(*SHARDED)
        for width, dark in ((1280, False), (800, True)):
            page = self.show("plan.html", width, dark)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            boxes = sorted(page.evaluate("textBoxes()"), key=lambda box: box[2])
            self.assertGreater(len(boxes), 200)
            for i, (text, left, top, right, bottom) in enumerate(boxes):
                for other, l, t, r, b in boxes[i + 1:]:
                    if t >= bottom:
                        break
                    self.assertFalse(left < r - 1 and l < right - 1, f"at {width}: '{text}' and '{other}'")

    def test_names_of_a_plan_are_text(self):
        model = harness.edited(harness.program("mlp"), ('"fc1"', '"<img src=x onerror=boom()>"'))
        self.compile(model)
        self.trainc("report", "model.plan", "-o", "plan.html")
        self.assertNotIn("<img", Path("plan.html").read_text())
        page = self.show("plan.html")
        self.assertEqual(page.evaluate("document.images.length"), 0)
        self.assertIn("<img src=x onerror=boom()>", page.evaluate("document.getElementById('tree').textContent"))

    def test_two_plans(self):
        self.compile(harness.program("gpt"), to="one.plan")
        self.compile(harness.program("gpt"), *SHARDED, to="two.plan")
        self.trainc("report", "one.plan", "two.plan", "-o", "both.html")
        document = document_of(Path("both.html").read_text())
        page = self.show("both.html")
        rows = sum(len(group["rows"]) for group in document["groups"])
        self.assertEqual(page.evaluate("document.querySelectorAll('tbody tr').length"), rows)
        self.assertGreater(rows, 20)


if __name__ == "__main__":
    harness.main()
