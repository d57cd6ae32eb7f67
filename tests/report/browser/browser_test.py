#!/usr/bin/env python3
"""The page of reports in a real browser: usage browser_test.py path/to/bitcycle."""

import http.client
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import page_driver
from made_up_run import MadeUpRun

BITCYCLE = ""
EVIL = "<img src=x onerror=alert(1)>"
EVIL_COMMENT = "# </script><script>window.owned = 1</script><!-- "
SECONDS_TO_OPEN = 2.0  # of the page's own processor time, so that a busy machine does not count


def number(text):
    return float(re.sub(r"[ ,%a-z]", "", text.replace("−", "-")))


class Folder(unittest.TestCase):
    """A folder of its own for each test, and one browser for all."""

    @classmethod
    def setUpClass(cls):
        cls.page = page_driver.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.close()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bitcycle-browser-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.page.open("about:blank")
        self.page.complaints()

    def run_made_up(self, name="cyclic", **options):
        return MadeUpRun(BITCYCLE, self.folder / name, **options)


class ReportFromDisk(Folder):
    def report(self, *runs):
        target = self.folder / "report.html"
        subprocess.run([BITCYCLE, "report", *[run.directory for run in runs], "-o", target], check=True,
                       capture_output=True)
        return target

    def open(self, *runs):
        target = self.report(*runs)
        self.page.open(target.as_uri())
        return target

    def test_shows_every_chart_of_a_run_without_complaints(self):
        self.open(self.run_made_up(layers=True).train().finish())
        self.assertEqual(self.page.titles(), [
            "Loss", "Accuracy", "Learning rate", "Bits", "Bits by layer and step",
            "The schedule, to the end of the run", "Share of the steps at each precision", "Cost so far",
            "Time of a step by bits", "Time of a step over the run", "Quantization error by layer",
            "Range of a layer", "Score at each evaluation width"])
        self.assertEqual(self.page.complaints(), [])

    def test_numbers_are_those_of_the_log(self):
        run = self.run_made_up().train().finish()
        self.open(run)
        rows = self.page.table("Loss")
        self.assertEqual(rows[0], ["Step", "training", "validation"])
        for row, line in zip(rows[1:], run.logged(), strict=True):
            self.assertEqual(number(row[0]), line["step"])
            self.assertAlmostEqual(number(row[1]), line["loss"], delta=5e-4 * line["loss"])
        bits = {number(row[0]): row[1] for row in self.page.table("Bits")[1:]}
        for step, shown in bits.items():
            self.assertEqual(shown, f"{run.bits[int(step) - 1]} bits")
        spent = self.page.table("Cost so far")[-1]
        self.assertAlmostEqual(number(spent[1]), run.logged()[-1]["gbitops"], delta=5e-3 * run.spent)
        text = self.page.text()
        self.assertIn("87.30 %", text)
        self.assertIn(f"{100 * (1 - run.spent / run.fixed):.1f} % less than static", text)

    def test_the_time_of_steps_is_told_by_their_bits(self):
        self.open(self.run_made_up().train())
        self.page.titles()
        rows = self.page.ask("""return [...document.querySelectorAll(".bars")].map((table) =>
            [...table.querySelectorAll("tbody tr")].map((row) => row.innerText))""")
        times = next(table for table in rows if "steps" in table[0])
        self.assertTrue(times[0].startswith("3/8"))
        self.assertIn("30 ms", times[0])
        self.assertIn("80 ms", times[-1])

    def test_landscapes_stand_side_by_side_with_labelled_contours(self):
        wide, narrow = self.run_made_up("wide").train().landscape(2.0), self.run_made_up("narrow", seed=2).train().landscape()
        self.open(wide, narrow)
        self.assertIn("Loss landscape at 8 bits", self.page.titles())
        rows = self.page.table("Loss landscape at 8 bits")
        self.assertEqual([row[0] for row in rows[1:]], ["wide", "narrow"])
        for row, area in zip(rows[1:], (math.pi * 0.5, math.pi * 0.25), strict=True):
            self.assertAlmostEqual(number(row[4]), area, delta=0.02)
        panels = self.page.ask("""return [...document.querySelectorAll("svg.landscape")].map((panel) =>
            [...panel.querySelectorAll(".contour-label")].map((label) => label.textContent))""")
        self.assertEqual(len(panels), 2)
        for labels in panels:
            self.assertIn("0.6", labels)
        read = self.page.ask("""
            const panel = document.querySelectorAll("svg.landscape")[1], box = panel.getBoundingClientRect();
            const side = panel.width.baseVal.value, left = 38, plot = side - 46;  // as drawn: alpha 1, beta -1
            panel.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: box.left + left + plot,
                                                             clientY: box.top + 24 + plot}));
            return panel.closest("figure").querySelector(".readout").textContent""")
        self.assertEqual(read, "narrow, 1, -1: loss 4.05")
        self.assertEqual(self.page.complaints(), [])

    def test_keys_move_zoom_and_speak(self):
        run = self.run_made_up().train()
        self.open(run)
        self.page.titles()
        spoken = self.page.ask("""
            const plot = document.querySelector(".plot"), press = (key) =>
                plot.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            plot.focus(); press("Home"); press("ArrowRight"); press("ArrowLeft"); press("End");
            const said = plot.getAttribute("aria-valuetext");
            press("+");
            return [said, bitcyclePage.link.range]""")
        self.assertIn("Step 400", spoken[0])
        self.assertIn(f"training {run.logged()[-1]['loss']:.4g}"[:-1], spoken[0])
        self.assertEqual(spoken[1], [200, 400])
        ranges = self.page.ask("return bitcyclePage.link.charts.filter((c) => c.graph).map((c) => c.graph.xAxisRange().map(Math.round).join())")
        self.assertEqual(len(set(ranges)), 1, "linked charts show the same steps")
        self.page.ask("document.getElementById('reset-zoom').click()")
        self.assertEqual(self.page.ask("return bitcyclePage.link.range"), None)

    def test_dragging_zooms_all_charts_and_a_double_click_shows_the_whole_run(self):
        self.open(self.run_made_up().train())
        self.page.titles()
        plots = self.page.find_all(".plot")
        self.page.drag(plots[0], 0.4, 0.6)
        low, high = self.page.ask("return bitcyclePage.link.range")
        self.assertTrue(100 < low < 200 < high < 300, (low, high))
        ranges = self.page.ask("""return bitcyclePage.link.charts.filter((c) => c.graph)
            .map((c) => c.graph.xAxisRange().map(Math.round).join())""")
        self.assertEqual(set(ranges), {f"{round(low)},{round(high)}"})
        self.page.double_click(plots[1])
        self.assertIsNone(self.page.ask("return bitcyclePage.link.range"))

    def test_printing_shows_charts_in_light_colours(self):
        self.open(self.run_made_up().train())
        inked = self.page.ask("""
            window.dispatchEvent(new Event("beforeprint"));
            const copies = [...document.querySelectorAll(".print-copy")];
            const inked = copies.map((copy) => copy.getContext("2d").getImageData(0, 0, copy.width, copy.height).data
                .some((value) => value > 0));
            const shown = document.documentElement.dataset.theme;
            window.dispatchEvent(new Event("afterprint"));
            return [inked, shown, document.querySelectorAll(".print-copy").length]""")
        self.assertGreaterEqual(len(inked[0]), 6)
        self.assertTrue(all(inked[0]))
        self.assertEqual(inked[1:], ["light", 0])

    def test_a_click_in_the_legend_hides_a_curve(self):
        self.open(self.run_made_up().train())
        self.page.titles()
        seen = self.page.ask("""document.querySelector(".legend button").click();
            const chart = bitcyclePage.link.charts[0];
            return [chart.graph.visibility(), document.querySelector(".legend button").getAttribute("aria-pressed")]""")
        self.assertEqual(seen, [[False, True], "false"])

    def test_resizing_keeps_charts_as_wide_as_their_place(self):
        self.open(self.run_made_up(layers=True).train().finish())
        self.page.titles()
        for width in (420, 1500, 800):
            self.page.driver.set_window_size(width, 900)
            self.page.wait("""[...document.querySelectorAll(".plot")].every((plot) => plot.clientWidth === 0 ||
                Math.abs(plot.querySelector("canvas").clientWidth - plot.clientWidth) < 2)""")
            self.assertLessEqual(self.page.ask("return document.documentElement.scrollWidth - innerWidth"), 0)
        self.page.driver.set_window_size(1280, 900)
        self.assertEqual(self.page.complaints(), [])

    def test_colours_can_be_changed(self):
        self.open(self.run_made_up().train())
        grounds = self.page.ask("""const ground = () => getComputedStyle(document.documentElement).backgroundColor;
            const seen = [];
            for (let i = 0; i < 3; ++i) { document.getElementById("theme").click(); seen.push(ground()); }
            return seen""")
        self.assertEqual(len(set(grounds)), 2)

    def test_names_are_letters_whatever_they_are(self):
        run = self.run_made_up(EVIL, comment=EVIL_COMMENT).train()
        self.open(run, self.run_made_up("plain").train())
        self.assertIn(EVIL, self.page.text())
        self.assertIsNone(self.page.ask("return window.owned ?? null"))
        self.assertEqual(self.page.ask("return document.images.length"), 0)
        self.open(run)
        self.assertEqual(self.page.ask("return document.querySelector('h1').textContent"), EVIL)
        self.assertIn("</script>", self.page.ask("return document.querySelector('pre').textContent"))
        self.assertEqual(self.page.complaints(), [])

    def test_a_damaged_run_is_shown_as_far_as_it_goes(self):
        run = self.run_made_up().train()
        lines = (run.directory / "metrics.jsonl").read_text().splitlines()
        lines[5] = lines[5][:30]
        run.write("metrics.jsonl", "\n".join(lines) + "\n" + '{"type": "step", "st')
        run.write("evaluations.json", "{")
        (run.directory / "timing.jsonl").unlink()
        self.open(run)
        notices = self.page.ask("return [...document.querySelectorAll('.notice li')].map((item) => item.textContent)")
        self.assertEqual(notices, ["Line 6 of metrics.jsonl cannot be read.", "evaluations.json cannot be read."])
        self.assertIn("Loss", self.page.titles())
        self.assertEqual(self.page.complaints(), [])

    def test_a_run_that_has_logged_nothing_shows_its_schedule(self):
        self.open(self.run_made_up())
        self.assertEqual(self.page.titles(), ["The schedule, to the end of the run"])
        self.assertEqual(self.page.complaints(), [])

    def test_several_runs_are_compared(self):
        runs = [self.run_made_up(f"low{low}-seed{seed}", low=low, seed=seed).train().finish()
                for low in (3, 8) for seed in (1, 2, 3)]
        self.open(*runs)
        titles = self.page.titles()
        for title in ("Score against cost", "Spread over seeds", "Training loss", "Validation accuracy",
                      "Bits of weights", "Cost so far, GBitOPs", "Score at each evaluation width"):
            self.assertIn(title, titles)
        rows = self.page.ask("""return [...document.querySelectorAll(".comparison tbody tr")].map((row) =>
            [...row.children].map((cell) => cell.textContent))""")
        # Scores are 87.3, 87.6, 87.9: mean 87.6, standard error 0.3 / sqrt(3).
        self.assertEqual([row[:3] for row in rows], [["CR 3-8/8", "3", "87.60 ± 0.17 %"], ["static 8/8", "3", "87.60 ± 0.17 %"]])
        self.assertEqual([row[-1] for row in rows], ["yes", ""], "as good at less cost")
        self.page.ask("""const select = document.getElementById("detail");
            select.value = "2"; select.dispatchEvent(new Event("change"))""")
        self.assertIn("Bits by layer and step", self.page.titles())
        self.assertEqual(self.page.complaints(), [])

    def test_a_long_run_is_small_and_opens_quickly(self):
        target = self.open(self.run_made_up(steps=64000, every=1, layers=False).train().finish())
        self.assertLess(target.stat().st_size, 1_000_000)
        self.assertLess(self.page.seconds_to_draw(), SECONDS_TO_OPEN)
        rows = self.page.table("Loss")
        shown = {number(row[0]) for row in rows[1:]}
        self.assertIn(1, shown)
        self.assertEqual(self.page.ask("return bitcyclePage.report.runs[0].training.loss.x.slice(-1)[0]"), 64000)

    def test_thirty_runs_open_quickly(self):
        self.open(*[self.run_made_up(f"run{i}", steps=4000, every=10, seed=i, low=3 + i % 5).train().finish()
                    for i in range(30)])
        self.assertLess(self.page.seconds_to_draw(), SECONDS_TO_OPEN)
        self.assertEqual(self.page.complaints(), [])


class Watch(Folder):
    def setUp(self):
        super().setUp()
        self.runs = self.folder / "runs"
        self.runs.mkdir()

    def run_made_up(self, name="cyclic", **options):
        return MadeUpRun(BITCYCLE, self.runs / name, **options)

    def serve(self):
        server = subprocess.Popen([BITCYCLE, "watch", self.runs, "--port", "0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        self.address = server.stdout.readline().strip()
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def status(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest("GET", path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse().status
        connection.close()
        return answer

    def test_lists_runs_and_follows_the_chosen_one(self):
        run = self.run_made_up().train(until=200)
        self.run_made_up("other").train()
        self.serve()
        self.page.open(self.address)
        self.page.wait("document.querySelectorAll('nav input').length === 2")
        self.page.ask("document.querySelector('nav input').click()")
        self.page.wait("document.body.innerText.includes('200 of 400 steps')")
        self.page.titles()
        self.page.ask("window.firstChart = bitcyclePage.figures.find((f) => f.graph)")
        run.train(until=300)
        self.page.wait("document.body.innerText.includes('300 of 400 steps')")
        self.assertTrue(self.page.ask("return bitcyclePage.figures.includes(window.firstChart)"), "updated, not made anew")
        self.assertEqual(number(self.page.table("Loss")[-1][0]), 300)
        with open(run.directory / "metrics.jsonl", "a") as file:
            file.write('{"type": "step", "step": 31')
        run.write("summary.json", "{")
        self.page.wait("document.body.innerText.includes('summary.json cannot be read')")
        self.assertNotIn("metrics.jsonl", self.page.text())
        shutil.rmtree(run.directory)
        self.page.wait("document.body.innerText.includes('not there')")
        self.page.wait("document.querySelectorAll('nav input').length === 1")
        self.assertEqual(self.page.complaints(), [])

    def test_a_run_that_begins_appears_in_the_list(self):
        self.serve()
        self.page.open(self.address)
        self.page.wait("document.body.innerText.includes('No runs yet')")
        self.run_made_up(EVIL).train()
        self.page.wait("document.querySelectorAll('nav input').length === 1")
        self.page.ask("document.querySelector('nav input').click()")
        self.page.wait("document.querySelector('h1').textContent === arguments[0]".replace("arguments[0]", repr(EVIL)))
        self.assertEqual(self.page.ask("return document.images.length"), 0)
        self.assertEqual(self.page.complaints(), [])

    def test_refuses_foreign_hosts_and_paths_outside(self):
        self.run_made_up().train()
        outside = MadeUpRun(BITCYCLE, self.folder / "outside").train()
        os.symlink(outside.directory, self.runs / "link")
        self.serve()
        self.assertEqual(self.status("/"), 200)
        self.assertEqual(self.status("/", Host=f"localhost:{self.port}"), 200)
        for host in ("evil.example", f"evil.example:{self.port}", "localhost.evil.example", ""):
            self.assertEqual(self.status("/", Host=host), 403, host)
            self.assertEqual(self.status("/events?run=cyclic", Host=host), 403, host)
        for name in ("../outside", "cyclic/../../outside", str(outside.directory), "link", "..", ".", "nothing", "cyclic%00"):
            self.assertEqual(self.status("/events?run=" + name), 404, name)
        for path in ("/../outside/recipe.toml", "/cyclic/recipe.toml", "/etc/passwd"):
            self.assertEqual(self.status(path), 404, path)


if __name__ == "__main__":
    page_driver.require_browser()
    BITCYCLE = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
