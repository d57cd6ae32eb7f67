"""The page that `bitcycle watch` keeps current, and what it refuses."""

import http.client
import os
import shutil
import time

import browser_case
from browser_case import number
from made_up_run import MadeUpRun

EVIL = "<img src=x onerror=alert(1)>"


class Watch(browser_case.BrowserCase):
    def status(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest("GET", path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse().status
        connection.close()
        return answer

    def boxes(self, count):
        self.page.wait("document.querySelectorAll('nav input').length === arguments[0]", count)
        return self.page.find_all("nav input")

    def test_lists_runs_and_follows_the_chosen_one(self):
        run = self.run_made_up().train(until=200)
        self.run_made_up("other").train()
        self.serve()
        self.page.open(self.address)
        self.boxes(2)[0].click()
        self.page.wait_for_text("200 of 400 steps")
        self.assertEqual(number(self.page.table("Loss")[-1][0]), 200)
        canvas = self.page.plot("Loss").find_element("css selector", "canvas")
        run.train(until=300)
        self.page.wait_for_text("300 of 400 steps")
        rows = self.page.table("Loss")[1:]
        for row, line in zip(rows, run.logged(), strict=True):
            self.assertEqual(number(row[0]), line["step"])
            self.assertAlmostEqual(number(row[1]), line["loss"], delta=5e-4 * line["loss"])
        self.assertTrue(canvas.is_displayed(), "the chart is updated, not made anew")
        self.assertIn("live", self.page.find("#connection").text)
        self.assert_no_complaints()

    def test_zoom_and_hidden_curves_outlast_news(self):
        run = self.run_made_up().train(until=200)
        self.serve()
        self.page.open(self.address)
        self.boxes(1)[0].click()
        self.page.wait_for_text("200 of 400 steps")
        self.page.drag(self.page.plot("Loss"), 0.3, 0.6)
        shown = self.page.steps_shown("Loss")
        self.page.click(self.page.figure("Loss").find_element("css selector", ".legend button"))
        run.train(until=300)
        self.page.wait_for_text("300 of 400 steps")
        self.assertEqual(self.page.steps_shown("Loss"), shown)
        button = self.page.figure("Loss").find_element("css selector", ".legend button")
        self.assertEqual(button.get_attribute("aria-pressed"), "false")

    def test_half_a_line_and_a_damaged_file_and_a_deleted_run(self):
        run = self.run_made_up().train(until=200)
        self.run_made_up("other").train()
        self.serve()
        self.page.open(self.address)
        self.boxes(2)[0].click()
        self.page.wait_for_text("200 of 400 steps")
        with open(run.directory / "metrics.jsonl", "a") as file:
            file.write('{"type": "step", "step": 31')
        run.write("summary.json", "{")
        self.page.wait_for_text("summary.json cannot be read")
        self.assertNotIn("metrics.jsonl", self.page.text())
        shutil.rmtree(run.directory)
        self.page.wait_for_text("not there")
        self.assertEqual(self.page.find(".pill").text, "gone")
        self.assertNotIn("0 of 0 steps", self.page.text())
        self.boxes(1)
        self.assert_no_complaints()

    def test_several_runs_are_followed_together(self):
        runs = [self.run_made_up(f"seed{seed}", seed=seed).train(until=100) for seed in (1, 2, 3)]
        self.serve()
        self.page.open(self.address)
        self.boxes(3)
        self.page.find_all("nav button")[0].click()  # All
        self.page.wait_for_text("3 runs")
        runs[1].train(until=300)
        self.page.wait("document.querySelector('.recipe td:nth-child(5)') !== null")
        self.page.click(self.page.find(".recipe summary"))
        self.page.wait_for_text("300 of 400")
        self.assertEqual(number(self.page.table("Training loss")[-1][2]), float(f"{runs[1].logged()[-1]['loss']:.4g}"))
        self.page.find_all("nav button")[1].click()  # None
        self.page.wait_for_text("Choose runs")
        self.assert_no_complaints()

    def test_a_run_that_begins_appears_in_the_list(self):
        self.serve()
        self.page.open(self.address)
        self.page.wait_for_text("No runs yet")
        self.run_made_up(EVIL).train()
        self.boxes(1)[0].click()
        self.page.wait("document.querySelector('h1').textContent === arguments[0]", EVIL)
        self.assertEqual(self.page.find_all("img"), [])
        self.assert_no_complaints()

    def test_refuses_foreign_hosts_and_paths_outside(self):
        self.run_made_up().train()
        outside = MadeUpRun(browser_case.BITCYCLE, self.folder / "outside").train()
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
    browser_case.main()
