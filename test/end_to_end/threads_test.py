"""The bits of a run do not depend on the number of threads."""

import harness
import small_gpt

FINAL = "step-00000012"


class ThreadsTest(harness.EndToEndTest):
    def check(self, plan, *arguments):
        for threads in ["1", "2", "3", "5"]:
            self.trainrun(plan, *arguments, "--threads", threads, "--steps", "12", "--checkpoint-dir", threads,
                          "--metrics", f"{threads}.jsonl")
            losses = [(line.get("loss"), line.get("grad_norm"), line.get("eval_loss"))
                      for line in harness.metrics(f"{threads}.jsonl")]
            if threads == "1":
                first = losses
            self.assertEqual(first, losses)
            self.assert_same_folder(f"1/{FINAL}", f"{threads}/{FINAL}")

    def test_gpt(self):
        data, evaluation = small_gpt.write_tokens("tokens.bin", 50), small_gpt.write_tokens("eval.bin", 9, seed=2)
        self.check(self.compile(small_gpt.text()), "--data", data, "--eval-data", evaluation)

    def test_llama(self):
        data = small_gpt.write_tokens("tokens.bin", 50)
        self.check(self.compile(harness.program("llama"), "--micro-batch=8", "--seq-len=64"), "--data", data)

    def test_mlp(self):
        data = harness.GOLDEN / "mlp" / "data.safetensors"
        self.check(self.compile(harness.program("mlp"), "--micro-batch=40"), "--data", data)


if __name__ == "__main__":
    harness.main()
