"""Pages with a lot on them: long tables, long names and many groups; on a desk, on a phone, on paper."""

import json

import browser_case
from browser_case import number

PHONE = 375
DRAWN = """const frame = arguments[0].querySelector("svg"), around = frame.getBoundingClientRect();
    const box = (part) => { const { left, top, right, bottom } = part.getBoundingClientRect();
        return [left - around.left, top - around.top, right - around.left, bottom - around.top]; };
    const lines = [...frame.querySelectorAll(".axes line")].map(box), most = (i, pick) => pick(...lines.map((line) => line[i]));
    return { labels: [...frame.querySelectorAll(".point-label")].map(box), dots: [...frame.querySelectorAll("circle")].map(box),
             axes: [most(0, Math.min), most(1, Math.min), most(2, Math.max), most(3, Math.max)] }"""


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class LongTables(browser_case.BrowserCase):
    def note(self, title):
        return self.page.ask("""return [...arguments[0].querySelectorAll(".values .note")].map((note) => note.textContent).join()""",
                             self.page.card(title))

    def test_every_evaluation_and_both_ends_are_there(self):
        run = self.run_made_up(steps=6400, every=1).train().finish()
        self.open(run)
        rows = self.page.table("Accuracy")[1:]
        self.assertEqual([number(row[0]) for row in rows if row[2]], [line["step"] for line in run.logged("evaluation")])
        self.assertEqual([number(rows[0][0]), number(rows[-1][0])], [1, 6400])
        self.assertTrue(rows[0][1] and rows[-1][1])
        trained = sum(row[1] != "" for row in rows)
        self.assertEqual(self.note("Accuracy"), f"Some rows are left out: the table has of training {trained:,} of 6,400 values, "
                         "the first and the last among them.")

    def test_every_change_of_bits_is_there(self):
        run = self.run_made_up(steps=1280, cycles=128).train()
        self.open(run)
        changes = [step for step in range(2, 1281) if run.bits[step - 1] != run.bits[step - 2]]
        self.assertGreater(len(changes), 400)
        rows = self.page.table("Bits")[1:]
        self.assertEqual([(number(row[0]), row[1]) for row in rows if row[1]],
                         [(step, f"{run.bits[step - 1]} bits") for step in [1, *changes, 1280]])
        self.assertEqual(self.note("Bits"), "")

    def test_tables_of_many_curves_stay_small_and_say_what_they_leave_out(self):
        self.open(*[self.run_made_up(f"seed{seed}", steps=3000, every=1, seed=seed).train() for seed in range(12)])
        head, *rows = self.page.table("Training loss")
        self.assertLessEqual(len(rows) * len(head), 20000)
        self.assertGreater(len(rows), 400)
        self.assertTrue(all(rows[0]) and all(rows[-1]), "first and last of every curve")
        least = min(sum(row[column] != "" for row in rows) for column in range(1, 13))
        self.assertIn(f"of 12 curves at least {least:,} of up to 3,000 values each", self.note("Training loss"))
        self.assertEqual([number(row[0]) for row in self.page.table("Validation loss")[1:]], list(range(300, 3001, 300)))
        self.assertEqual(self.note("Validation loss"), "")

    def test_maps_have_their_first_and_last_column(self):
        run = self.run_made_up(layers=True).train()
        self.open(run)
        head = self.page.table("Quantization error by layer")[0]
        self.assertEqual([head[1], head[-1]], ["step 1", "step 391"])
        self.assertLessEqual(len(head), 13)
        self.assertIn(f"the table has {len(head) - 1} of 40 stretches of steps", self.note("Quantization error by layer"))


class Crowded(browser_case.BrowserCase):
    def tearDown(self):
        self.page.resize(None)

    def groups(self, count):
        """Groups of a sweep with long names, crowded in cost and score; the front is every fifth of them."""
        cells = []
        for i in range(count):
            run = self.run_made_up(f"cell{i}", low=3, work=1 + 0.1 * i).train()
            run.finish(accuracy=80 + 0.2 * i - (0 if i % 5 == 0 else 1.5))
            cells.append({"cell": f"cell{i}", "group": f"cifar_resnet8-with-a-rather-long-name/schedule={i}-of-thirty", "run": run})
        (self.runs / "sweep.json").write_text(json.dumps({"sweep": "runs", "cells": [
            {"cell": cell["cell"], "group": cell["group"], "baseline": cells[0]["group"]} for cell in cells]}))
        self.open(*[cell["run"] for cell in cells])
        return [cell["group"] for cell in cells]

    def assert_labels_are_readable(self, figure):
        drawn = self.page.ask(DRAWN, figure)
        left, top, right, bottom = drawn["axes"]
        for i, label in enumerate(drawn["labels"]):
            near = [dot for dot in drawn["dots"] if overlap([label[0] - 12, label[1] + 4, label[2] + 12, label[3] - 4], dot)]
            self.assertLessEqual(len(near), 1, "beside one point alone")
            self.assertTrue(label[0] >= left and label[2] <= right + 2 and label[1] >= top - 4 and label[3] <= bottom + 4, (label, drawn["axes"]))
            inner = [label[0] + 1, label[1] + 4, label[2] - 1, label[3] - 4]  # of letters, without the space around them
            for other in drawn["labels"][i + 1:] + drawn["dots"]:
                self.assertFalse(overlap(inner, other), (label, other))
        return drawn

    def test_names_in_score_against_cost_are_within_it_and_clear_of_each_other(self):
        names = self.groups(30)
        for width in (1280, PHONE):
            self.page.resize(width)
            figure = self.page.figure("Score against cost")
            drawn = self.assert_labels_are_readable(figure)
            self.assertEqual(len(drawn["dots"]), 30)
            self.assertGreater(len(drawn["labels"]), 0)
            self.assertIn(f"There is no room for the names of {30 - len(drawn['labels'])} of 30 points", figure.text)
        self.assertEqual([row[0] for row in self.page.table("Score against cost")[1:]], names)
        self.assert_no_complaints()

    def test_points_tell_their_whole_names(self):
        names = self.groups(30)
        dots = self.page.figure("Score against cost").find_elements("css selector", "circle")
        self.page.actions().move_to_element(dots[29]).perform()
        self.assertTrue(self.page.readout("Score against cost").startswith(f"{names[29]}: 84.30 %"), self.page.readout("Score against cost"))

    def test_names_of_the_front_come_first(self):
        self.groups(30)
        front = self.page.ask("""const named = [...arguments[0].querySelectorAll(".point-label")].map((label) => label.textContent);
            return page.report.comparison.groups.filter((group) => group.front).map((group) =>
                named.some((name) => group.label.endsWith(name.split("…")[1] ?? name)))""", self.page.figure("Score against cost"))
        self.assertEqual(front, [True] * 6)

    def test_a_phone_shows_names_and_bars_without_scrolling_sideways(self):
        self.groups(6)
        self.page.resize(PHONE)
        figure = self.page.figure("Time of a step by bits")
        self.assertLessEqual(self.page.ask("return document.documentElement.scrollWidth"), PHONE)
        longest = self.page.ask("return Math.max(...[...arguments[0].querySelectorAll('.bar')].map((bar) => bar.offsetWidth))", figure)
        self.assertGreaterEqual(longest, 80)

    def test_paper_keeps_bits_in_one_piece(self):
        run = self.run_made_up().train()
        run.write("timing.jsonl", (run.directory / "timing.jsonl").read_text().replace('/8"', 'w 3a/6"'))
        self.open(run)
        lines = self.print_page("""return [...document.querySelectorAll(".bars th[scope=row]")].map((label) => {
            const range = document.createRange();
            range.selectNodeContents(label.querySelector(".whole") ?? label);
            return new Set([...range.getClientRects()].map((box) => Math.round(box.bottom))).size; })""")
        self.assertGreater(len(lines), 5)
        self.assertEqual(set(lines), {1})


if __name__ == "__main__":
    browser_case.main()
