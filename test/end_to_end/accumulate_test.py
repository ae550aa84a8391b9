"""However a step's samples are divided into micro-batches, the step is the same up to rounding."""

import harness
import small_gpt
from harness import GOLDEN, read_safetensors

# Samples per micro-batch and micro-batches per step. The golden rows have unequally many ignored targets and one of the
# first step's 16 rows none at all, so that with one sample each a whole micro-batch is ignored.
DIVISIONS = [(16, 1), (4, 4), (2, 8), (1, 16)]


class AccumulateTest(harness.EndToEndTest):
    def run_divided(self, text, data, micro_batch, accumulate):
        """Losses and gradient norms of four steps, and the optimizer's states after the first."""
        name = f"{accumulate}x{micro_batch}"
        plan = self.compile(text, f"--micro-batch={micro_batch}", f"--accumulate={accumulate}", to=f"{name}.plan")
        arguments = [plan, "--data", data, "--checkpoint-dir", name, "--metrics", f"{name}.jsonl"]
        self.trainrun(*arguments, "--no-shuffle", "--steps", "1")
        self.trainrun(*arguments, "--resume", "--steps", "4")
        lines = harness.metrics(f"{name}.jsonl")
        self.assertEqual(len(lines), 4)
        states = read_safetensors(f"{name}/step-00000001/optimizer.safetensors")
        return [line["loss"] for line in lines], [line["grad_norm"] for line in lines], states

    def check(self, text, data):
        (losses, norms, states), *others = [self.run_divided(text, data, *division) for division in DIVISIONS]
        for other_losses, other_norms, other_states in others:
            self.assert_close(other_losses[:1], losses[:1], 1e-6, "first loss")
            self.assert_close(other_norms[:1], norms[:1], 1e-6, "first gradient norm")
            self.assert_close(other_losses, losses, 1e-5, "losses")
            self.assert_close(other_norms, norms, 1e-5, "gradient norms")
            self.assertEqual(set(other_states), set(states))
            for name, tensor in states.items():
                # After one step exp_avg is the gradient times a constant. That of GPT-2's key bias is rounding.
                if name.startswith("exp_avg.") and not name.endswith("attn.c_attn.bias"):
                    self.assert_close(other_states[name].values, tensor.values, 2e-6, name)

    def test_gpt_with_dropout(self):
        # Another mask of dropout would change losses in the second digit.
        self.check(harness.edited(harness.program("gpt"), *small_gpt.DROPOUT), GOLDEN / "gpt" / "data.safetensors")

    def test_llama(self):
        self.check(harness.program("llama"), GOLDEN / "llama" / "data.safetensors")


if __name__ == "__main__":
    harness.main()
