"""Evaluation gives the mean over the samples that it counts, however many fit into a batch."""

import math
import random
import re
from pathlib import Path

import harness
from harness import Tensor, write_safetensors

CLASSES, SAMPLES = 3, 10

# Logits, or predictions, are the features as they are, so that losses are known.
HEAD = f"""
nn.model @m(%features: tensor<?x{CLASSES}xf32>, %labels: tensor<?xi32>) {{
  %one = nn.parameter "one" tensor<{CLASSES}xf32> init constant(1.0)
  %x = nn.mul %features, %one
"""
TAIL = """
}
train.program @p { model @m  optimizer sgd(lr 0.0)  batch 8 }
"""
CROSS_ENTROPY = """
  %nll, %lse = nn.cross_entropy %x, %labels
  nn.loss "loss" %nll
"""
Z_LOSS = """
  %z = nn.square %lse
  nn.loss "z" %z scale 0.5
"""
# Every sample's logits depend on all of its batch.
BATCH_MEAN = """
  %mean = nn.reduce mean %x over [0]
  %centred = nn.sub %x, %mean
  %nll, %lse = nn.cross_entropy %centred, %labels
  nn.loss "loss" %nll
"""
SQUARED_ERROR = """
  %wide = nn.convert %labels to f32
  %mean = nn.reduce mean %x over [1]
  %error = nn.mse %mean, %wide
  nn.loss "loss" %error
"""


class EvaluateTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        numbers = random.Random(5)
        self.rows = [[numbers.gauss(0, 1) for _ in range(CLASSES)] for _ in range(SAMPLES)]
        self.labels = [numbers.randrange(CLASSES) for _ in range(SAMPLES)]
        self.labels[2] = -100
        write_safetensors("data.safetensors", {"features": Tensor("F32", [SAMPLES, CLASSES], sum(self.rows, [])),
                                               "labels": Tensor("I32", [SAMPLES], self.labels)})

    def log_sum_exp(self, row):
        return math.log(sum(map(math.exp, row)))

    def evaluated(self, body, *options):
        """Loss and number of samples of --eval-data; perplexity only where the loss is one plain cross-entropy."""
        self.compile(HEAD + body + TAIL, *options)
        _, err = self.trainrun("model.plan", "--data", "data.safetensors", "--eval-data", "data.safetensors", "--steps", "1", "--metrics",
                               "m.jsonl")
        line = harness.metrics("m.jsonl")[-1]
        has_perplexity = body in (CROSS_ENTROPY, BATCH_MEAN)
        if has_perplexity:
            self.assertAlmostEqual(line["perplexity"], math.exp(line["eval_loss"]))
        else:
            self.assertIsNone(line["perplexity"])
        self.assertEqual("perplexity" in err, has_perplexity)
        return line["eval_loss"], line["eval_samples"]

    def cross_entropies(self, samples):
        return [self.log_sum_exp(row) - row[label] for row, label in list(zip(self.rows, self.labels))[:samples] if label >= 0]

    def test_the_last_batch_is_filled_up(self):
        losses = self.cross_entropies(SAMPLES)
        for batch in [8, 3, 1, 20]:
            loss, samples = self.evaluated(CROSS_ENTROPY, f"--eval-batch={batch}")
            self.assertEqual(samples, SAMPLES)
            self.assertAlmostEqual(loss, sum(losses) / len(losses), 5)

    def test_losses_that_are_no_likelihoods(self):
        """A cross-entropy with a scale, smoothing or class weights, and a sum of two, have no perplexity."""
        losses = self.cross_entropies(SAMPLES)
        mean = sum(losses) / len(losses)
        for body, factor in [(CROSS_ENTROPY.replace('"loss" %nll', '"loss" %nll scale 0.5'), 0.5),
                             (CROSS_ENTROPY + '  nn.loss "again" %nll scale 0.25\n', 1.25)]:
            loss, samples = self.evaluated(body)
            self.assertEqual(samples, SAMPLES)
            self.assertAlmostEqual(loss, factor * mean, 5)
        self.evaluated(CROSS_ENTROPY.replace("%labels", "%labels smoothing 0.1"))
        self.evaluated(CROSS_ENTROPY.replace("  %nll,", '  %w = nn.constant 2.0 : tensor<3xf32>\n  %nll,')
                       .replace("%labels", "%labels weights %w"))

    def test_losses_of_elements_take_whole_batches(self):
        losses, squares = self.cross_entropies(8), [self.log_sum_exp(row) ** 2 for row in self.rows[:8]]
        loss, samples = self.evaluated(CROSS_ENTROPY + Z_LOSS)
        self.assertEqual(samples, 8)
        self.assertAlmostEqual(loss, sum(losses) / len(losses) + 0.5 * sum(squares) / len(squares), 5)

    def test_samples_that_see_each_other_take_whole_batches(self):
        means = [sum(column) / 8 for column in zip(*self.rows[:8])]
        centred = [[x - mean for x, mean in zip(row, means)] for row in self.rows[:8]]
        losses = [self.log_sum_exp(row) - row[label] for row, label in zip(centred, self.labels) if label >= 0]
        loss, samples = self.evaluated(BATCH_MEAN)
        self.assertEqual(samples, 8)
        self.assertAlmostEqual(loss, sum(losses) / len(losses), 5)

    def evaluated_alone(self, model, reason):
        """The loss of a plan that trains nothing; a run that is to train is rejected."""
        Path("model.mlir").write_text(model)
        _, err = self.trainc("compile", "model.mlir", "-o", "model.plan", "--cpu=native")
        self.assertIn("warning: the plan evaluates and does not train: " + reason, err)
        self.fails([harness.TRAINRUN, "model.plan", "--data", "data.safetensors", "--steps=1"], 2, "trains nothing", reason)
        weights = {"one": Tensor("F32", [CLASSES], [1.0] * CLASSES)} if '"one"' in model else {}
        write_safetensors("weights.safetensors", weights)
        command, comment = re.search("^next: trainrun (.*)   # (.*)$", err, re.MULTILINE).groups()
        self.assertEqual(command, f"model.plan {'--init=weights.safetensors ' if weights else ''}--eval-data data.safetensors")
        self.assertEqual(comment, "columns: features" + (", labels" if "cross_entropy" in model else ""))
        self.trainrun(*command.split(), "--metrics", "alone.jsonl")
        without_weights = [harness.TRAINRUN, "model.plan", "--eval-data", "data.safetensors"]
        if weights:
            self.fails(without_weights, 2, "--eval-data without --data needs trained weights: give --init=FILE or --resume=DIR")
        else:
            self.run_program(*without_weights)
        return harness.metrics("alone.jsonl")[-1]["eval_loss"]

    def test_parameters_that_are_all_frozen(self):
        losses = self.cross_entropies(SAMPLES)
        frozen = TAIL.replace("batch 8", 'batch 8 group "*" frozen clip 1.0')
        for tail in (frozen, frozen.replace("sgd(lr 0.0)", "adamw(lr 1e-3)"), frozen.replace("batch 8", "batch 4 accumulate 2")):
            loss = self.evaluated_alone(HEAD + CROSS_ENTROPY + tail, "all parameters are frozen")
            self.assertAlmostEqual(loss, sum(losses) / len(losses), 5)

    def test_a_loss_without_gradient(self):
        """The share of samples whose largest logit is above 0.5, and a model without parameters."""
        share = """
  %largest = nn.reduce max %x over [1]
  %half = nn.constant 0.5
  %above = nn.compare gt %largest, %half
  %share = nn.convert %above to f32
  nn.loss "share" %share
"""
        expected = sum(max(row) > 0.5 for row in self.rows[:8]) / 8
        self.assertAlmostEqual(self.evaluated_alone(HEAD + share + TAIL, "the loss does not depend on any trained parameter"), expected, 6)
        plain = HEAD.replace("  %one = nn.parameter \"one\" tensor<3xf32> init constant(1.0)\n", "").replace("nn.mul %features, %one", "nn.neg %features")
        mean = sum(-sum(row) for row in self.rows[:8]) / (8 * CLASSES)
        self.assertAlmostEqual(self.evaluated_alone(plain + '  nn.loss "loss" %x\n' + TAIL, "the loss does not depend on any trained parameter"), mean, 5)

    def test_integers_that_are_no_classes(self):
        errors = [(sum(row) / CLASSES - label) ** 2 for row, label in zip(self.rows, self.labels)]
        for batch, expected in [(8, 8), (3, 9), (5, 10)]:
            loss, samples = self.evaluated(SQUARED_ERROR, f"--eval-batch={batch}")
            self.assertEqual(samples, expected)
            self.assertAlmostEqual(loss / (sum(errors[:expected]) / expected), 1, 5)


if __name__ == "__main__":
    harness.main()
