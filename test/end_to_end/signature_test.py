"""Plans that are signed, and trainrun --trust, which runs no other."""

import os
from pathlib import Path

import harness
from harness import TRAINC, TRAINRUN
from toy_run import TrainrunTest

RUN = [TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps", "1"]


class SignatureTest(TrainrunTest):
    def key(self, name, algorithm="ed25519"):
        """Makes NAME.pem and NAME.pub."""
        self.run_program("openssl", "genpkey", "-algorithm", algorithm, "-out", f"{name}.pem")
        self.run_program("openssl", "pkey", "-in", f"{name}.pem", "-pubout", "-out", f"{name}.pub")

    def sign(self, name):
        self.assertEqual(self.trainc("sign", "toy.plan", f"--key={name}.pem"), ("", "wrote toy.plan.sig: the signature of toy.plan\n"))
        self.assertEqual(self.trainc("sign", "toy.plan", f"--key={name}.pem", "-q"), ("", ""))

    def refused(self, *texts, trust="own.pub"):
        self.fails([*RUN, f"--trust={trust}"], 2, *texts)

    def setUp(self):
        super().setUp()
        self.key("own")

    def test_a_signed_plan_runs(self):
        self.run_program(*RUN)
        self.sign("own")
        self.run_program(*RUN, "--trust=own.pub")
        self.run_program(*RUN)
        self.run_program("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "own.pub", "-rawin", "-in", "toy.plan", "-sigfile",
                         "toy.plan.sig")

    def test_what_is_not_signed_is_refused(self):
        self.refused("error: toy.plan: is not signed, and --trust runs only plans that are", "toy.plan.sig", "No such file")
        Path("toy.plan.sig").write_bytes(b"")
        self.refused("the signature in toy.plan.sig is not of this file by a key in own.pub")

    def test_every_part_of_the_file_is_signed(self):
        self.sign("own")
        plan, signature = Path("toy.plan").read_bytes(), Path("toy.plan.sig").read_bytes()
        self.assertEqual(len(signature), 64)
        for at in [0, 8, 16, 63, 64, len(plan) // 2, len(plan) - 1]:
            changed = bytearray(plan)
            changed[at] ^= 1
            Path("toy.plan").write_bytes(changed)
            self.refused("is not of this file")  # and not "corrupted": nothing of it has been read
        Path("toy.plan").write_bytes(plan + b"\0")
        self.refused("is not of this file")
        Path("toy.plan").write_bytes(plan)
        for other in [signature[:-1], signature + b"\0", bytes(64), bytes([signature[0] ^ 1]) + signature[1:]]:
            Path("toy.plan.sig").write_bytes(other)
            self.refused("is not of this file")

    def test_a_file_that_is_no_signature_stays(self):
        Path("toy.plan.sig").write_text("my notes")
        self.fails([TRAINC, "sign", "toy.plan", "--key=own.pem"], 2, "toy.plan.sig: the file holds something else than a signature, which would be lost")
        self.assertEqual(Path("toy.plan.sig").read_text(), "my notes")
        Path("toy.plan.sig").write_text("")
        self.sign("own")

    def test_any_of_several_keys(self):
        self.key("other")
        self.sign("other")
        self.refused("by a key in own.pub")
        Path("both.pub").write_text(Path("own.pub").read_text() + "\n# of Ada\n" + Path("other.pub").read_text())
        self.run_program(*RUN, "--trust=both.pub")
        self.sign("own")
        self.run_program(*RUN, "--trust=both.pub")

    def test_keys_of_another_kind(self):
        self.key("rsa", "RSA")
        self.sign("own")
        self.refused("error: --trust=rsa.pub: expected an Ed25519 key, found one of RSA; make a pair with 'openssl genpkey", trust="rsa.pub")
        self.refused("error: --trust=own.pem: expected public keys in PEM, found PRIVATE KEY;", trust="own.pem")
        self.refused("error: --trust=none.pub: cannot open: No such file", trust="none.pub")
        half = Path("own.pub").read_text() + Path("own.pub").read_text()[:-30]
        Path("half.pub").write_text(half)
        self.refused("error: --trust=half.pub: expected public keys in PEM, found one that cannot be read", trust="half.pub")
        for key, text in [("rsa.pem", "expected an Ed25519 key, found one of RSA"), ("own.pub", "expected a private key in PEM")]:
            self.fails([TRAINC, "sign", "toy.plan", f"--key={key}"], 2, f"error: {key}: {text}")

    def test_only_plans_are_signed(self):
        self.fails([TRAINC, "sign", "tokens.bin", "--key=own.pem"], 2, "tokens.bin: not a plan file")
        self.assertFalse(os.path.exists("tokens.bin.sig"))

    def test_ranks_that_a_launcher_starts_check_too(self):
        self.refused("is not signed")
        environment = {**os.environ, "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
        self.fails([*RUN, "--trust=own.pub"], 2, "is not signed", env=environment)


if __name__ == "__main__":
    harness.main()
