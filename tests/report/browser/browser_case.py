"""What tests of the page have in common: a folder of its own for each, one browser for all of a file,
and reports of made-up runs that are opened from disk."""

import base64
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import page_driver
from made_up_run import MadeUpRun

BITCYCLE = os.path.abspath(sys.argv.pop(1))


def number(text):
    return float(re.sub(r"[ ,%a-z]", "", text.replace("−", "-")))


class BrowserCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = page_driver.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.close()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bitcycle-browser-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runs = self.folder / "runs"
        self.runs.mkdir()
        self.page.open("about:blank")
        self.page.complaints()

    def run_made_up(self, name="cyclic", **options):
        return MadeUpRun(BITCYCLE, self.runs / name, **options)

    def report(self, *runs):
        target = self.folder / "report.html"
        subprocess.run([BITCYCLE, "report", *[run.directory for run in runs], "-o", target], check=True,
                       capture_output=True)
        return target

    def open(self, *runs):
        target = self.report(*runs)
        self.page.open(target.as_uri())
        return target

    def serve(self):
        """`bitcycle watch` of the folder of runs."""
        server = subprocess.Popen([BITCYCLE, "watch", self.runs, "--port", "0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        self.address = server.stdout.readline().strip()
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def print_page(self, script):
        """What a script says of the page while it is being printed."""
        self.page.ask("window.addEventListener('beforeprint', () => { window.printed = (() => {" + script + "})(); })")
        paper = base64.b64decode(self.page.tell("Page.printToPDF")["data"])
        self.assertTrue(paper.startswith(b"%PDF"))
        self.page.wait("document.querySelector('.print-copy') === null")
        return self.page.ask("return window.printed")

    def assert_no_complaints(self):
        self.assertEqual(self.page.complaints(), [])


def main():
    unittest.main(verbosity=2)
