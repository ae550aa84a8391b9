"""The Debian packages of the build hold the right files, ask for the right packages, and their programs run from any place."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness

BUILD = os.environ.get("BUILD_FOLDER", str(harness.ROOT / "build"))
PACKAGES = ["trainc", "trainrun", "trainc-comm-mpi"]


@unittest.skipUnless(shutil.which("dpkg-shlibdeps") and not os.environ.get("TRAINC_SANITIZE"), "needs Debian's tools, and a release build")
class PackagesTest(harness.EndToEndTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        # Fast compression, because these packages are not distributed; the files in them are the same.
        subprocess.run(["cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", "-B", folder.name], check=True,
                       stdout=subprocess.DEVNULL)
        cls.packages = {path.name.partition("_")[0]: path for path in Path(folder.name).glob("*.deb")}

    def test_there_is_one_for_each_part(self):
        self.assertEqual(sorted(self.packages), sorted(PACKAGES))

    def fields(self, package):
        out, _ = self.run_program("dpkg-deb", "--field", str(self.packages[package]))
        return dict(line.split(": ", 1) for line in out.splitlines() if ": " in line and line[0] != " ")

    def files(self, package):
        out, _ = self.run_program("dpkg-deb", "--contents", str(self.packages[package]))
        return [line.split()[5].lstrip(".") for line in out.splitlines() if not line.endswith("/")]

    def test_contents_and_dependencies(self):
        trainc, trainrun, mpi = (self.files(package) for package in PACKAGES)
        for program in ["trainc", "trainc-check", "trainc-lsp", "trainc-opt"]:
            self.assertIn(f"/usr/bin/{program}", trainc)
        for file in ["README.md", "CHANGELOG.md", "copyright", "docs/tutorials/through-the-compiler.md", "docs/tutorials/circle.mlir", "examples/gpt/gpt.mlir"]:
            self.assertIn(f"/usr/share/doc/trainc/{file}", trainc)
        self.assertEqual(trainrun, ["/usr/bin/trainrun", "/usr/share/doc/trainrun/copyright"])
        self.assertEqual(mpi, ["/usr/lib/trainc/libtrainc_comm_mpi.so", "/usr/share/doc/trainc-comm-mpi/copyright"])
        needs = {package: self.fields(package)["Depends"] for package in PACKAGES}
        self.assertIn("libmlir-22", needs["trainc"])
        for library in ["libc6", "libfmt9", "libhwloc15", "libpcre2-8-0", "liburing2", "libutf8proc2"]:
            self.assertIn(library, needs["trainrun"])
        self.assertNotRegex(needs["trainrun"] + needs["trainc-comm-mpi"], "llvm|mlir|python")
        self.assertRegex(needs["trainc-comm-mpi"], r"libopenmpi3.*trainrun \(= |trainrun \(= .*libopenmpi3")
        for package in PACKAGES:
            self.assertIn("Description", self.fields(package))

    def test_programs_run_where_they_are_unpacked(self):
        for package in self.packages.values():
            self.run_program("dpkg-deb", "--extract", str(package), "root")
        pages = "root/usr/share/doc/trainc"
        self.run_program("root/usr/bin/trainc", "compile", f"{pages}/examples/gpt/small.mlir", "-o", "small.plan", "--cpu=native")
        self.run_program("root/usr/bin/trainc", "tokenize", f"{pages}/README.md", f"{pages}/docs/explanation/overview.md", "-o", "tokens.bin")
        self.run_program("root/usr/bin/trainrun", "small.plan", "--data", "tokens.bin", "--steps=2")
        if not shutil.which("mpirun"):
            return
        self.run_program("root/usr/bin/trainc", "compile", f"{pages}/examples/gpt/small.mlir", "-o", "two.plan", "--cpu=native", "--ranks=2")
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "root/usr/bin/trainrun", "two.plan", "--data", "tokens.bin", "--steps=2"]
        self.run_program(*mpirun)
        Path("root/usr/lib/trainc/libtrainc_comm_mpi.so").unlink()
        failed = subprocess.run(mpirun, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("beside the program or in ../lib/trainc (the package trainc-comm-mpi has it)", failed.stderr)


if __name__ == "__main__":
    harness.main()
