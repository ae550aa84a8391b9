"""Checks that transformers reads what `trainc export` writes, of each golden model of texts or of images alone, or of the named ones.

    pip install torch==2.11.0 transformers==5.24.0
    python test/golden/check_exports.py [NAME...]

trainrun takes the first golden step, and transformers computes the loss of the second one from the exported folder in float64: it is that of
the golden numbers, and the folder has all parameters of the class and no others.
"""

import sys
import tempfile
from pathlib import Path

import torch
import transformers

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "end_to_end"))

import import_test  # noqa: E402
from import_models import ATTENTION, MODELS, OPTIONS  # noqa: E402
from make_import_goldens import float64_alone, losses_of_rows  # noqa: E402

BOUND = 1e-5


class Export(import_test.ImportTestCase):
    def tuned(self, numbers):
        """Writes the folder `tuned`."""
        import_test.write_data("data.safetensors", numbers)
        plan = self.compile(self.imported(numbers))
        self.run_steps(plan, "--steps", "1", "--checkpoint-dir", "run")
        self.trainc("export", "run", "--like=model", "-o", "tuned")

    def check(self, name):
        numbers = import_test.numbers_of(name)
        self.tuned(numbers)
        model_class = getattr(transformers, numbers["config"]["architectures"][0])
        with float64_alone():
            model, read = model_class.from_pretrained("tuned", dtype=torch.float64, attn_implementation=ATTENTION.get(name, "eager"), output_loading_info=True)
            with torch.no_grad():
                loss = float(losses_of_rows(numbers["config"], "--token-types" in OPTIONS.get(name, []))(model.eval(), slice(2, 4)))
        self.assertEqual([list(read[kind]) for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")], [[], [], []])
        self.assert_close([loss], numbers["losses"][1:2], BOUND, name)


for golden_name in [name for name in sys.argv[1:] if name in MODELS] or [name for name in MODELS if "text_config" not in MODELS[name]]:
    setattr(Export, f"test_{golden_name}", lambda self, name=golden_name: self.check(name))

if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    import_test.harness.unittest.main(argv=sys.argv[:1])
