"""The micro-batches of a step do not matter: the step is the same up to rounding."""

import harness
import small_gpt
from harness import GOLDEN, read_safetensors

# Samples per micro-batch and micro-batches per step. The golden rows have unequally many ignored targets and one of the
# first step's 16 rows none at all, so that with one sample each a whole micro-batch is ignored.
SPLITS = [(16, 1), (4, 4), (2, 8), (1, 16)]


class AccumulateTest(harness.EndToEndTest):
    def train_in_micro_batches(self, text, data, micro_batch, accumulate):
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
        (losses, norms, states), *others = [self.train_in_micro_batches(text, data, *split) for split in SPLITS]
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

    def test_gpt_with_dropout_of_attention(self):
        edit = ("%heads, %lse = nn.attention %q, %k, %v heads 4 causal",
                '%key = nn.dropout_key "weights"\n  %heads, %lse = nn.attention %q, %k, %v heads 4 causal dropout 0.2 dropout_key %key')
        self.check(harness.edited(harness.program("gpt"), edit), GOLDEN / "gpt" / "data.safetensors")

    def test_llama(self):
        self.check(harness.program("llama"), GOLDEN / "llama" / "data.safetensors")


# Every element of the parameter w is dropped or counted once a sample, so that its gradient counts how often it was kept.
MASKS = """nn.model @masks(%x: tensor<?x256xf32>) {
  %w = nn.parameter "w" tensor<256xf32>
  %sum = nn.add %x, %w
  %kept = nn.dropout "drop" %sum p 0.5
  nn.loss "kept" %kept
}
train.program @train { model @masks optimizer sgd(lr 1) batch 8 steps 2 }
"""

# The same by 256 heads of one number each, which attend to one key, with a weight of 1.
MASKS_OF_ATTENTION = MASKS.replace("%kept = nn.dropout \"drop\" %sum p 0.5", """%rows = nn.reshape %sum to [0, 1, 256]
  %key = nn.dropout_key "drop"
  %kept, %lse = nn.attention %rows, %rows, %rows heads 256 dropout 0.5 dropout_key %key""")


class DropoutTest(harness.EndToEndTest):
    """The masks of a step: as many as it has samples, all different, with any micro-batch."""

    MODEL = MASKS

    def times_kept(self, micro_batch, accumulate, ranks=1):
        """How often each element was kept, in the first step and in the second."""
        run = f"{ranks}x{accumulate}x{micro_batch}"
        plan = self.compile(self.MODEL, f"--micro-batch={micro_batch}", f"--accumulate={accumulate}", f"--ranks={ranks}", to=f"{run}.plan")
        samples = micro_batch * accumulate * ranks
        harness.write_safetensors("x.safetensors", {"x": harness.Tensor("F32", [2 * samples, 256], [0.0] * (512 * samples))})
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        self.trainrun(plan, *processes, "--data", "x.safetensors", "--checkpoint-dir", run, "--checkpoint-every", 1)
        w = [[0.0] * 256] + [list(read_safetensors(f"{run}/step-0000000{step}/model.safetensors")["w"].values) for step in [1, 2]]
        # lr 1: an element kept in one sample moves by 2 / elements.
        return [[(a - b) * samples * 256 / 2 for a, b in zip(w[step], w[step + 1])] for step in range(2)]

    def test_every_micro_step_has_its_own_mask(self):
        first, second = self.times_kept(1, 8)
        self.assertLessEqual(set(first + second), set(range(9)))
        # With one mask for all eight samples an element would be kept in none or in all; with eight independent ones
        # that happens to one element in 128, and the counts have the variance 8 / 4. The bounds are five standard
        # deviations of a sample's mean and variance of 256 elements.
        for counts in [first, second]:
            mean = sum(counts) / 256
            self.assertAlmostEqual(mean, 4, delta=5 * (2 / 256) ** 0.5)
            variance = sum((count - mean) ** 2 for count in counts) / 255
            self.assertAlmostEqual(variance, 2, delta=5 * 2 * (2 / 255) ** 0.5)
        self.assertNotEqual(first, second, "a step draws the masks of the one before")

    def test_all_micro_batches_draw_the_same_masks(self):
        whole = self.times_kept(8, 1)
        for micro_batch, accumulate in [(4, 2), (2, 4), (1, 8)]:
            self.assertEqual(self.times_kept(micro_batch, accumulate), whole)

    def test_ranks_draw_the_masks_of_one(self):
        self.assertEqual(self.times_kept(2, 2, ranks=2), self.times_kept(8, 1))


class AttentionDropoutTest(DropoutTest):
    MODEL = MASKS_OF_ATTENTION


if __name__ == "__main__":
    harness.main()
