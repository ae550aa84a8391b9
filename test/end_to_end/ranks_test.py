"""Plans of several ranks under trainrun, made by hand (test/unit/runtime/training/toy_ranks.cpp): the bigram model of toy_run.py with
12 micro-batches a step over all ranks, and states that ranks hold whole or in parts."""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import harness
from harness import DEVICE, MAKE_TOY_PLAN, TRAINRUN
from toy_run import write_tokens

FOREVER = "100000000"


def processes_left():
    """Process ids of this test's programs."""
    found = subprocess.run(["pgrep", "-f", f"{TRAINRUN} .*{os.getcwd()}"], capture_output=True, text=True)
    return found.stdout.split()


def named_memory(pid):
    """Files in the folder of shared memory that a process has mapped, and that could outlive it; Open MPI's are looked for elsewhere."""
    return re.findall(r" (/dev/shm/(?!vader_segment)\S+)", Path(f"/proc/{pid}/maps").read_text())


def state(pid):
    """R: runs, S: sleeps, T: is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def children(process):
    return list(map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()))


class RanksTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        write_tokens("tokens.bin", 100)
        self.tokens = str(Path("tokens.bin").resolve())  # names the test to processes_left()

    def tearDown(self):
        self.assertEqual(processes_left(), [])

    def plan(self, ranks, shard_ranks=1, *args):
        name = f"toy-{ranks}-{shard_ranks}.plan"
        subprocess.run([MAKE_TOY_PLAN, name, str(ranks), str(shard_ranks), *args], check=True)
        return name

    def command(self, plan, *args):
        """Command of a run whose ranks trainrun starts itself."""
        ranks = plan.split("-")[1]
        return [TRAINRUN, plan, "--nproc-per-node", ranks, "--data", self.tokens, *DEVICE, *map(str, args)]

    def train(self, plan, *args, **kwargs):
        return self.run_program(*self.command(plan, *args), **kwargs)

    def wait_until(self, holds, what):
        deadline = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def wait_for_polls(self, process, pid, times):
        """Waits until a waiting process has woken up that many times to poll."""
        def wakeups():
            self.assertIsNone(process.poll())
            return {task: int(re.search(r"^voluntary_ctxt_switches:\t(\d+)$", task.read_text(), re.MULTILINE)[1])
                    for task in Path(f"/proc/{pid}/task").glob("*/status")}

        before = wakeups()
        self.wait_until(lambda: any(count >= before.get(task, 0) + times for task, count in wakeups().items()), "it does not poll")

    def wait_for_a_step(self):
        path = Path("running.jsonl")
        self.wait_until(lambda: path.exists() and path.stat().st_size > 0, "the run does not begin")

    def assert_shared_memory_is_removed(self, pids):
        """Checks that shared memory of running ranks has no name, so that it ends with them, however they end."""
        for pid in pids:
            self.assertEqual(named_memory(pid), [])

    def start(self, plan, *args, **kwargs):
        """Starts an endless run and waits until all ranks work; returns the process and those of its ranks."""
        command = self.command(plan, "--steps", FOREVER, "--metrics", "running.jsonl", *args)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        self.wait_for_a_step()
        ranks = children(process)
        self.assert_shared_memory_is_removed(ranks)
        return process, ranks

    def start_without_reader(self, *args):
        """A run whose metrics go into a full pipe, so that rank 0 blocks after the first step; returns the unread end."""
        os.mkfifo("pipe")
        reader, writer = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK), os.open("pipe", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.close(writer)
        process = subprocess.Popen(self.command(self.plan(2, 2), "--steps", FOREVER, "--metrics", "pipe", *args), stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        while b"step 1/" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        return process, reader

    def end(self, process, code, seconds=60):
        """Standard error of a process that must end so soon."""
        err = process.communicate(timeout=seconds)[1].decode()
        self.assertEqual(process.returncode, code, err)
        self.assertEqual(processes_left(), [], err)
        return err

    def assert_survivors_say(self, err, ranks, reason):
        """Each with the rank, the step, the instruction and its op, or that it was between steps; how many were in a step."""
        in_step = r"step \d+: entry \w+, instruction \d+ \(wte: dist\.collective at test\.mlir:9\)"
        between = r"between steps, before step \d+"
        said = []
        for rank in ranks:
            begin = "error: " if rank == 0 else rf"\[rank {rank}\] error: "
            line = re.compile(rf"^{begin}(?:({in_step})|{between}): rank {rank}: [^\n]*{reason}", re.MULTILINE)
            self.assertRegex(err, line)
            said.append(line.search(err)[1])
        return sum(map(bool, said))

    def checkpoints(self):
        return sorted(path.name for path in Path("ck").iterdir())

    def fill_disk(self, process, rank):
        """Prevents a rank's process from writing further files once `process` has written a checkpoint; returns the existing ones."""
        self.wait_until(lambda: process.poll() is not None or any(name.startswith("step") for name in self.checkpoints()), "no checkpoint")
        self.assertIsNone(process.poll())
        resource.prlimit(rank, resource.RLIMIT_FSIZE, (100, 100))
        return {name for name in self.checkpoints() if name.startswith("step")}

    def assert_checkpoint_not_written(self, err, victim, task, done):
        """All of 3 ranks report the failure and its reason, and the earlier checkpoints `done` exist."""
        for rank in range(3):
            begin = "error: " if rank == 0 else rf"\[rank {rank}\] error: "
            reason = r"ck/\S+: cannot write: File too large" if rank == victim else rf"rank {rank}: rank {victim} could not {task}"
            self.assertRegex(err, rf"(?m)^{begin}the checkpoint of step \d+ was not written \(the last one is that of step \d+\): {reason}")
        left = self.checkpoints()
        self.assertTrue(done <= set(left) and all(name.startswith("step") for name in left), left)

    def assert_resumes(self, plan):
        step = int(self.checkpoints()[-1].removeprefix("step-"))
        self.train(plan, "--checkpoint-dir", "ck", "--resume", "--steps", step + 1)

    def losses(self, path):
        return [line["loss"] for line in harness.metrics(path)]


class Failures(RanksTest):
    def test_a_rank_that_is_killed(self):
        in_step = 0
        for victim in range(3):
            with self.subTest(victim=victim):
                Path("running.jsonl").unlink(missing_ok=True)
                process, ranks = self.start(self.plan(3, 3, "linger"))
                os.kill(ranks[victim], signal.SIGKILL)
                err = self.end(process, 128 + signal.SIGKILL)
                self.assertIn(f"error: rank {victim} was killed by signal 9 (Killed)", err)
                said = self.assert_survivors_say(err, {0, 1, 2} - {victim}, rf"rank {victim} failed: it was killed by signal 9 \(Killed\)")
                in_step += said == 2
        self.assertGreater(in_step, 0, "hardly any time passes between steps")

    def test_a_rank_that_is_stopped(self):
        process, ranks = self.start(self.plan(3, 3))
        os.kill(ranks[2], signal.SIGSTOP)
        err = self.end(process, 128 + signal.SIGKILL)
        self.assertIn("error: rank 2 was stopped", err)
        self.assert_survivors_say(err, {0, 1}, "rank 2 failed: it was stopped")

    def test_a_rank_that_waits_for_its_reader_is_waited_for(self):
        process, reader = self.start_without_reader("--comm-timeout", 1)
        # So often that rank 1 has found its wait far longer than that of a rank that hangs.
        self.wait_for_polls(process, children(process)[1], 200)
        process.send_signal(signal.SIGTERM)
        os.close(reader)  # a metrics file that cannot be written does not end the run
        self.assertIn("stopped by SIGTERM", self.end(process, 1))

    def test_a_rank_that_is_stopped_while_it_waits_for_its_reader(self):
        process, reader = self.start_without_reader()
        self.addCleanup(os.close, reader)
        os.kill(children(process)[0], signal.SIGSTOP)
        self.assert_survivors_say(self.end(process, 128 + signal.SIGKILL), {1}, "rank 0 failed: it was stopped")

    def test_a_job_that_is_stopped_as_a_whole_goes_on(self):
        process, ranks = self.start(self.plan(2, 2))
        for each in [process.pid, *ranks]:
            os.kill(each, signal.SIGSTOP)
        self.wait_until(lambda: all(state(each) == "T" for each in [process.pid, *ranks]), "they do not stop")
        time.sleep(2)  # the point of the test: longer than the timeout of a rank that alone is stopped
        steps = len(harness.metrics("running.jsonl"))
        for each in [process.pid, *ranks]:
            os.kill(each, signal.SIGCONT)
        self.wait_until(lambda: len(Path("running.jsonl").read_text().splitlines()) > steps + 1, "the run does not go on")
        process.send_signal(signal.SIGTERM)
        self.assertIn("stopped by SIGTERM", self.end(process, 1))

    def test_the_parent_is_killed(self):
        process, _ = self.start(self.plan(3, 3))
        process.kill()
        process.communicate(timeout=10)
        self.wait_until(lambda: not processes_left(), "ranks outlive their parent")

    def test_a_full_disk_on_one_rank(self):
        plan = self.plan(3, 3)
        # The disk may be full while a checkpoint is being written, too.
        for victim, task in [(1, "write its share"), (0, "(prepare the checkpoint|write its share|complete the checkpoint)")]:
            with self.subTest(victim=victim):
                shutil.rmtree("ck", ignore_errors=True)
                Path("running.jsonl").unlink(missing_ok=True)
                process, ranks = self.start(plan, "--checkpoint-dir", "ck", "--checkpoint-every", "100")
                done = self.fill_disk(process, ranks[victim])
                self.assert_checkpoint_not_written(self.end(process, 1), victim, task, done)
                self.assert_resumes(plan)

    def test_a_warning_that_all_ranks_find_is_said_once(self):
        plan = self.plan(3, 3)
        Path("zeros.bin").write_bytes(bytes(100000))
        train = lambda steps: self.run_program(TRAINRUN, plan, "--nproc-per-node=3", "--data", "zeros.bin", "--steps", steps, "-q", "--checkpoint-dir=zeros", "--resume=auto")[1]
        for steps, warning in [(2, "its first 65536 bytes are all 0"), (2, "nothing is left to train")]:
            err = train(steps)
            self.assertEqual(err.count(warning), 1, err)
            self.assertNotIn("[rank 1]", err)

    def test_an_error_that_all_ranks_find_is_said_once(self):
        _, err = self.run_program(TRAINRUN, self.plan(3, 3), "--nproc-per-node=3", "--data", "none.bin", "--steps", 3, code=2)
        self.assertEqual(err.count("none.bin: no such file"), 1, err)


class Signals(RanksTest):
    def test_a_checkpoint_is_written_first(self):
        for number in [signal.SIGTERM, signal.SIGINT]:
            with self.subTest(number):
                Path("running.jsonl").unlink(missing_ok=True)
                folder = f"ck-{number}"
                process, _ = self.start(self.plan(4, 2), "--checkpoint-dir", folder)
                process.send_signal(number)
                err = self.end(process, 0)
                self.assertIn(f"stopped by {signal.Signals(number).name} after step", err)
                (checkpoint,) = Path(folder).iterdir()
                step = int(checkpoint.name.removeprefix("step-"))
                self.assertEqual(len(harness.metrics("running.jsonl")), step)
                self.train(self.plan(4, 2), "--checkpoint-dir", folder, "--resume", "--steps", step + 1)

    def test_one_rank_that_gets_it_stops_all(self):
        process, ranks = self.start(self.plan(2), "--checkpoint-dir", "ck")
        os.kill(ranks[1], signal.SIGTERM)
        self.assertIn("stopped by a signal to another rank after step", self.end(process, 0))
        self.assertEqual(len(os.listdir("ck")), 1)

    def test_to_the_group_and_to_the_parent_is_one(self):
        process, ranks = self.start(self.plan(3, 3), "--checkpoint-dir", "ck", start_new_session=True)
        os.kill(process.pid, signal.SIGTERM)
        os.killpg(process.pid, signal.SIGTERM)
        self.assertIn("stopped by SIGTERM after step", self.end(process, 0))
        self.assertEqual(len(os.listdir("ck")), 1)

    def test_a_second_one_ends_it_at_once(self):
        process, reader = self.start_without_reader()  # so that no first one can end it
        self.addCleanup(os.close, reader)
        process.send_signal(signal.SIGTERM)
        while process.poll() is None:
            time.sleep(0.4)  # two that come at once count as one
            process.send_signal(signal.SIGINT)
        self.end(process, 128 + signal.SIGKILL)


class Checkpoints(RanksTest):
    def test_files_do_not_depend_on_how_states_are_divided(self):
        for shard_ranks in [1, 2, 4]:
            self.train(self.plan(4, shard_ranks), "--steps", 8, "--checkpoint-dir", f"ck{shard_ranks}", "--checkpoint-every", 3)
        for step in [3, 6, 8]:
            for other in [2, 4]:
                self.assert_same_folder(f"ck1/step-{step:08}", f"ck{other}/step-{step:08}")

    def test_a_resumed_run_equals_an_uninterrupted_one(self):
        plan = self.plan(3, 3)
        self.train(plan, "--steps", 9, "--checkpoint-dir", "whole")
        self.train(plan, "--steps", 5, "--checkpoint-dir", "half")
        self.train(plan, "--steps", 9, "--checkpoint-dir", "half", "--resume")
        self.assert_same_folder("whole/step-00000009", "half/step-00000009")

    def test_stop_at_4_ranks_and_go_on_at_others(self):
        self.train(self.plan(1), "--steps", 20, "--metrics", "one.jsonl")
        expected = self.losses("one.jsonl")
        self.train(self.plan(4, 4), "--steps", 10, "--checkpoint-dir", "ck", "--metrics", "four.jsonl")
        self.assert_close(self.losses("four.jsonl"), expected[:10], 1e-5, "4 ranks")
        for ranks, shard_ranks in [(2, 1), (2, 2), (3, 3), (1, 1)]:
            metrics = f"{ranks}-{shard_ranks}.jsonl"
            self.train(self.plan(ranks, shard_ranks), "--steps", 20, "--resume=ck", "--metrics", metrics)
            self.assert_close(self.losses(metrics), expected[10:], 1e-5, f"{ranks} ranks")

    def test_initial_weights(self):
        self.train(self.plan(1), "--steps", 10, "--checkpoint-dir", "ck")
        weights = "ck/step-00000010/model.safetensors"
        self.train(self.plan(1), "--steps", 3, "--init", weights, "--metrics", "one.jsonl")
        self.train(self.plan(3, 3), "--steps", 3, "--init", weights, "--metrics", "three.jsonl")
        self.assert_close(self.losses("three.jsonl"), self.losses("one.jsonl"), 1e-5, "3 ranks")

    def test_keep_last(self):
        self.train(self.plan(2, 2), "--steps", 9, "--checkpoint-dir", "ck", "--checkpoint-every", 2, "--keep-last", 2)
        self.assertEqual(sorted(os.listdir("ck")), ["step-00000008", "step-00000009"])


class Output(RanksTest):
    def test_replicas_are_quiet_unless_asked(self):
        _, err = self.train(self.plan(2), "--steps", 3)
        self.assertNotIn("[rank", err)
        self.assertIn("step 3/3", err)
        _, err = self.train(self.plan(2), "--steps", 3, "--log-level=error", "--log-level-replica=info")
        self.assertTrue(err)
        self.assertTrue(all(line.startswith("[rank 1] ") for line in err.splitlines()), err)
        _, err = self.train(self.plan(2), "--steps", 3, "--log-on-each-node")
        self.assertNotIn("[rank", err)

    def test_metrics_and_text_come_from_rank_0(self):
        metrics = ["--metrics", "m.jsonl", "--eval-data", self.tokens]
        generate = ["--generate=\x01", "--temperature", "0", "--max-tokens", "3", "--tokenizer=bytes"]
        out, _ = self.train(self.plan(3, 3), "--steps", 60, *metrics, *generate)
        self.assertEqual(out, "\x01\x04\x0d\x08\n")
        self.assertEqual([line["step"] for line in harness.metrics("m.jsonl")], [*range(1, 61), 60])

    def test_several_prompts(self):
        generate = ["--generate=\x01", "--generate=\x04", "--temperature=3", "--max-tokens=5", "--tokenizer=bytes", "--generated=texts.jsonl"]
        alone = [self.train(self.plan(2), "--steps", 3, *generate[:1], *generate[2:5])[0], self.train(self.plan(2), "--steps", 3, *generate[1:5])[0]]
        out, _ = self.train(self.plan(2), "--steps", 3, *generate)
        self.assertEqual(out, "\n".join(alone))
        self.assertEqual(len(Path("texts.jsonl").read_text().splitlines()), 2)

    def test_evaluation_equals_that_of_one_rank(self):
        self.train(self.plan(1), "--steps", 10, "--checkpoint-dir", "ck")
        for ranks in [1, 2, 3]:
            self.run_program(TRAINRUN, self.plan(ranks, ranks), "--nproc-per-node", ranks, "--resume=ck", "--eval-data", self.tokens,
                             "--metrics", f"{ranks}.jsonl")
        losses = {line["eval_loss"] for ranks in [1, 2, 3] for line in harness.metrics(f"{ranks}.jsonl")}
        self.assertEqual(len(losses), 1)

    def test_threads_are_divided(self):
        _, err = self.train(self.plan(2), "--steps", 1)
        self.assertRegex(err, rf"\b{max(1, len(os.sched_getaffinity(0)) // 2)} threads?\b")
        _, err = self.train(self.plan(2), "--steps", 1, "--threads", 3)
        self.assertIn("3 threads", err)

    def test_a_dry_run_needs_no_ranks(self):
        out, _ = self.run_program(TRAINRUN, self.plan(4, 2), "--device=null")
        self.assertRegex(out, re.compile("plan toy for cpu, 4 ranks"))


if __name__ == "__main__":
    harness.main()
