"""What the page of runs shows: every chart, the numbers of the run's files, names as letters, and as much
of a damaged run as can be read."""

import json
import math

import browser_case
from browser_case import number

EVIL = "<img src=x onerror=alert(1)>"
EVIL_COMMENT = "# </script><script>window.owned = 1</script><!-- "


class PageOfARun(browser_case.BrowserCase):
    def bars(self, title):
        return self.page.ask("""return [...arguments[0].querySelectorAll("tbody tr")].map((row) =>
            [row.children[0].textContent, row.children[2].textContent])""", self.page.figure(title))

    def test_shows_every_chart_without_complaints(self):
        self.open(self.run_made_up(layers=True).train().finish())
        self.assertEqual(self.page.titles(), [
            "Loss", "Accuracy", "Learning rate", "Bits", "Bits by layer and step",
            "The schedule, to the end of the run", "Share of the steps at each precision", "Cost so far",
            "Time of a step by bits", "Time of a step over the run", "Quantization error by layer",
            "Range of a layer", "Score at each evaluation width"])
        for title in self.page.titles():
            self.page.figure(title)
        self.assert_no_complaints()

    def test_curves_are_those_of_the_log(self):
        run = self.run_made_up().train().finish()
        self.open(run)
        validation = {line["step"]: line for line in run.logged("evaluation")}
        for title, name, closeness in (("Loss", "loss", 5e-4), ("Accuracy", "accuracy", 1e-4)):
            rows = self.page.table(title)
            self.assertEqual(rows[0], ["Step", "training", "validation"])
            for row, line in zip(rows[1:], run.logged(), strict=True):
                self.assertEqual(number(row[0]), line["step"])
                self.assertAlmostEqual(number(row[1]), line[name], delta=closeness * line[name])
                self.assertEqual(row[2] != "", line["step"] in validation)
                if row[2]:
                    expected = validation[line["step"]][name]
                    self.assertAlmostEqual(number(row[2]), expected, delta=closeness * expected)
        for row, line in zip(self.page.table("Learning rate")[1:], run.logged(), strict=True):
            self.assertAlmostEqual(number(row[1]), line["lr"], delta=5e-3 * line["lr"])

    def test_bits_cost_and_time_are_those_of_the_log(self):
        run = self.run_made_up().train().finish()
        self.open(run)
        for step, shown, _ in self.page.table("Bits")[1:]:
            self.assertEqual(shown, f"{run.bits[int(number(step)) - 1]} bits")
        for row, line in zip(self.page.table("Cost so far")[1:], run.logged(), strict=True):
            self.assertAlmostEqual(number(row[1]), line["gbitops"], delta=5e-3 * line["gbitops"])
            self.assertAlmostEqual(number(row[2]), line["gbitops_static"], delta=5e-3 * line["gbitops_static"])
        widths = sorted(set(run.bits))
        self.assertEqual(self.bars("Time of a step by bits"),
                         [[f"{bits}/8", f"{10 * bits} ms ({run.bits.count(bits)} steps)"] for bits in widths])
        self.assertEqual(self.bars("Share of the steps at each precision"),
                         [[f"{bits}/8", f"{100 * run.bits.count(bits) / len(run.bits):.1f} %"] for bits in widths])

    def test_one_step_is_no_steps(self):
        run = self.run_made_up(low=8, steps=1, every=1).train()
        self.open(run)
        self.assertEqual(self.bars("Time of a step by bits"), [["8/8", "80 ms (1 step)"]])

    def test_learning_rates_that_jump_are_drawn_as_steps_and_others_as_slopes(self):
        for rate, as_steps in ((lambda done: 0.1 if done <= 0.5 else 0.01, True), (lambda done: 0.1 * (1 - done), False),
                               (lambda done: 0.05 * (1 + math.cos(math.pi * done)), False)):
            self.open(self.run_made_up(f"rate{len(list(self.runs.iterdir()))}").train(rate=rate))
            self.page.figure("Learning rate")
            self.assertEqual(self.page.ask("""return page.figures.find((figure) => figure.options && figure.options.title === "Learning rate")
                .graph.getOption("stepPlot", "learning rate")"""), as_steps)

    def test_cards_have_score_cost_time_and_machine(self):
        run = self.run_made_up().train().finish()
        self.open(run)
        seconds = sum(json.loads(line)["seconds"] for line in (run.directory / "timing.jsonl").read_text().splitlines())
        text = self.page.find("main").text
        for words in ("87.30 %", f"{100 * (1 - run.spent / run.fixed):.1f} % less than static", "A made-up processor",
                      "2 threads, avx2", f"{seconds:.1f} s", "400 of 400 steps", "cifar_resnet8", "CR 3-8/8"):
            self.assertIn(words, text)

    def test_layers_have_their_ranges_and_errors(self):
        run = self.run_made_up(layers=True).train().finish()
        self.open(run)
        rows = self.page.table("Quantization error by layer")
        self.assertEqual([row[0] for row in rows[1:]], ["layer1.0.conv1", "layer1.0.conv2", "layer2.0.conv1"])
        for i, row in enumerate(rows[1:]):
            self.assertAlmostEqual(number(row[1].replace("dB", "")), 6.02 * run.bits[9] - i, delta=0.1)
        self.assertEqual(self.page.table("Range of a layer")[1][1:], ["2", "-1.5"])
        self.page.point(self.page.plot("Quantization error by layer"), 0.6, 0.37)  # the second of three rows
        self.page.actions().click().perform()
        self.assertEqual(self.page.table("Range of a layer")[1][1:], ["3", "-2.5"])

    def test_gates_show_what_they_chose_over_steps_and_by_block(self):
        run = self.run_made_up(gates=True).train().finish()
        self.open(run)
        rows = self.page.table("What the gates chose")
        self.assertEqual(rows[0], ["Step", "[6, 8]", "[3, 6]", "skip"])
        for row, line in zip(rows[1:], run.logged(), strict=True):
            self.assertEqual(number(row[0]), line["step"])
            blocks = line["choices"]
            for shown, option in zip(row[1:], (2, 1, 0), strict=True):
                self.assertAlmostEqual(number(shown), 100 * sum(block[option] for block in blocks) / len(blocks), delta=0.06)
        figure = self.page.figure("What the gates chose, by block")
        table = [[cell.text for cell in row.find_elements("css selector", "th, td")]
                 for row in figure.find_elements("css selector", "tr")]
        self.assertEqual(table[0], ["Block", "Shares", "skip", "[3, 6]", "[6, 8]"])
        last = [line["choices"] for line in run.logged()[-4:]]  # a tenth of forty
        for block, row in enumerate(table[1:]):
            self.assertEqual(row[0], f"{block + 1}, layer{block + 1}.0")
            for option, shown in enumerate(row[2:]):
                self.assertAlmostEqual(number(shown), 100 * sum(line[block][option] for line in last) / 4, delta=0.06)
        self.assertIn("Steps 361 to 400", figure.text)
        self.assertIn("means over blocks and samples; a skipped block counts as 0 bits", self.page.figure("Bits").text)
        self.assert_no_complaints()

    def test_layers_of_stacked_shares_fill_the_chart(self):
        self.open(self.run_made_up(gates=True).train())
        colours = self.page.ask("""const drawn = arguments[0].querySelector("canvas"), ratio = drawn.width / drawn.clientWidth;
            return [0.1, 0.5, 0.9].map((y) => [...drawn.getContext("2d").getImageData(
              Math.round(drawn.width * 0.5), Math.round((drawn.height - 20 * ratio) * y), 1, 1).data])""",
                                self.page.figure("What the gates chose"))
        self.assertEqual(len({tuple(colour) for colour in colours}), 3, colours)
        self.assertTrue(all(colour[3] > 150 for colour in colours), colours)

    def test_a_single_evaluation_can_be_seen(self):
        run = self.run_made_up(steps=10).train()
        self.open(run)
        inked = self.page.ask("""const drawn = arguments[0].querySelector("canvas"), data = drawn.getContext("2d")
            .getImageData(0, 0, drawn.width, drawn.height).data;
            let count = 0;
            for (let i = 0; i < data.length; i += 4) if (data[i] > 180 && data[i + 1] < 110 && data[i + 2] < 60 && data[i + 3] > 200) ++count;
            return count / (drawn.width / drawn.clientWidth) ** 2""", self.page.figure("Loss"))
        self.assertGreater(inked, 40, "orange pixels of the only validation loss: a dot of radius 5 has 78")

    def test_values_of_another_kind_are_told(self):
        run = self.run_made_up().train()
        lines = (run.directory / "metrics.jsonl").read_text().splitlines()
        lines[3] = lines[3].replace('"loss": ', '"loss": "about ').replace(', "accuracy"', '", "accuracy"')
        run.write("metrics.jsonl", "\n".join(lines) + "\n")
        self.open(run)
        self.assertEqual([item.text for item in self.page.find_all(".notice li")],
                         ['"loss" in line 4 of metrics.jsonl is no number, and left out.'])
        self.assertEqual(self.page.table("Loss")[3][:2], ["30", ""])
        self.assert_no_complaints()

    def test_each_evaluation_width_has_its_score(self):
        self.open(self.run_made_up().train().finish())
        self.assertEqual(self.page.table("Score at each evaluation width"),
                         [["Run", "3", "4", "8", "fp"], ["cyclic", "78.30 %", "83.30 %", "87.30 %", "87.40 %"]])

    def test_names_are_letters_whatever_they_are(self):
        run = self.run_made_up(EVIL, comment=EVIL_COMMENT).train()
        self.open(run, self.run_made_up("plain").train())
        self.assertIn(EVIL, self.page.text())
        self.assertIsNone(self.page.ask("return window.owned ?? null"))
        self.assertEqual(self.page.find_all("img"), [])
        self.open(run)
        self.assertEqual(self.page.find("h1").text, EVIL)
        self.page.click(self.page.find(".recipe summary"))
        self.assertIn("</script>", self.page.find("pre").text)
        self.assert_no_complaints()

    def test_a_damaged_run_is_shown_as_far_as_it_goes(self):
        run = self.run_made_up().train()
        lines = (run.directory / "metrics.jsonl").read_text().splitlines()
        lines[3] = lines[3][:30]
        run.write("metrics.jsonl", "\n".join(lines) + "\n" + '{"type": "step", "st')
        run.write("evaluations.json", "{")
        (run.directory / "timing.jsonl").unlink()
        self.open(run)
        self.assertEqual([item.text for item in self.page.find_all(".notice li")],
                         ["Line 4 of metrics.jsonl cannot be read.", "evaluations.json cannot be read."])
        self.assertEqual([number(row[0]) for row in self.page.table("Loss")[1:4]], [10, 20, 40])
        self.assert_no_complaints()

    def test_a_run_that_has_logged_nothing_shows_its_schedule(self):
        self.open(self.run_made_up())
        self.assertEqual(self.page.titles(), ["The schedule, to the end of the run"])
        self.assert_no_complaints()


class PageOfSeveralRuns(browser_case.BrowserCase):
    def test_they_are_compared(self):
        runs = [self.run_made_up(f"low{low}-seed{seed}", low=low, seed=seed).train().finish()
                for low in (3, 8) for seed in (1, 2, 3)]
        self.open(*runs)
        titles = self.page.titles()
        for title in ("Score against cost", "Spread over seeds", "Training loss", "Validation accuracy",
                      "Bits of weights", "Cost so far, GBitOPs", "Score at each evaluation width"):
            self.assertIn(title, titles)
        rows = [[cell.text for cell in row.find_elements("css selector", "th, td")]
                for row in self.page.find_all(".comparison tbody tr")]
        # Scores are 87.3, 87.6, 87.9: mean 87.6, standard error 0.3 / sqrt(3).
        self.assertEqual([row[:3] for row in rows], [["CR 3-8/8", "3", "87.60 ± 0.17 %"], ["static 8/8", "3", "87.60 ± 0.17 %"]])
        self.assertEqual([row[-1] for row in rows], ["yes", ""], "as good at less cost")
        loss = self.page.table("Training loss")
        self.assertEqual(loss[0][1:], [run.directory.name for run in runs])
        for column, run in enumerate(runs, start=1):
            self.assertAlmostEqual(number(loss[-1][column]), run.logged()[-1]["loss"], delta=5e-4)
        self.assert_no_complaints()

    def test_labels_at_the_end_of_an_axis_are_whole(self):
        self.open(*[self.run_made_up(f"seed{seed}", seed=seed).train().finish() for seed in (1, 2)])
        end = self.page.ask("""
            const axis = (text) => ({ low: 0, high: 100, ticks: [100], text: () => text, title: "" });
            const frame = svg("svg", { width: 600, height: 300 }), { group } = axes(600, 300, axis("123,000"), axis("1"));
            frame.append(group);
            document.body.append(frame);
            const box = [...group.querySelectorAll("text")].find((made) => made.textContent === "123,000").getBBox();
            return box.x + box.width;""")
        self.assertLessEqual(end, 600)

    def test_unfinished_ones_say_how_far_they_are_and_are_off_the_front(self):
        self.open(self.run_made_up("half", low=3).train(until=200), self.run_made_up("whole", low=8).train().finish())
        half, whole = [[cell.text for cell in row.find_elements("css selector", "th, td")]
                       for row in self.page.find_all(".comparison tbody tr")]
        self.assertEqual([half[0], half[-1]], ["CR 3-8/8, step 200 of 400", ""])
        self.assertEqual([whole[0], whole[-1]], ["static 8/8", "yes"])
        self.assertEqual([label.get_attribute("textContent") for label in self.page.find_all("svg[aria-label='Score against cost'] .point-label")],
                         ["static 8/8", "CR 3-8/8, step 200 of 400"])
        self.assert_no_complaints()

    def test_runs_of_a_sweep_have_its_names_and_baseline(self):
        runs = [self.run_made_up(f"{name},seed={seed}", low=low, seed=seed).train().finish()
                for name, low in (("late", 3), ("plain", 8)) for seed in (1, 2)]
        cells = [{"cell": run.directory.name, "group": run.directory.name.split(",")[0], "baseline": "plain"} for run in runs]
        later = {"cell": "later,seed=1", "group": "later", "baseline": "plain"}
        (self.runs / "sweep.json").write_text(json.dumps({"sweep": "runs", "cells": cells + [later]}))
        self.open(*runs)
        head, late, plain = [[cell.text for cell in row.find_elements("css selector", "th, td")]
                             for row in self.page.find_all(".comparison tr")]
        self.assertEqual(head[:7], ["Name", "Precision", "Runs", "Accuracy", "Difference", "GBitOPs", "Less than baseline"])
        saved = f"{100 * (1 - runs[0].spent / runs[2].spent):.1f} %"
        self.assertEqual(late[:5] + late[6:7], ["late", "CR 3-8/8", "2", "87.45 ± 0.15 %", "+0.00 ± 0.00", saved])
        self.assertEqual(plain[:5] + plain[6:7], ["plain", "static 8/8", "2", "87.45 ± 0.15 %", "–", "–"])
        self.assertEqual([name for name, _ in self.page.legend("Training loss")], ["late", "plain"])
        self.assertIn("from plain, the sweep's baseline", self.page.text())
        self.assertEqual(self.page.find("h1").text, "4 of the sweep's 5 runs")
        self.assert_no_complaints()

    def language_model(self, name):
        words = self.run_made_up(name).train().finish()
        for file in ("recipe.toml", "metrics.jsonl", "summary.json", "evaluations.json"):
            text = (words.directory / file).read_text()
            words.write(file, text.replace("accuracy", "perplexity").replace("cifar_resnet8", "lstm_lm")
                        .replace("fashion_mnist", "ptb"))
        return words

    def test_score_against_cost_is_of_the_metric_of_most_runs_and_names_the_others(self):
        pictures = [self.run_made_up(f"low{low}", low=low).train().finish() for low in (3, 5, 8)]
        self.open(self.language_model("words"), *pictures)
        figure = self.page.figure("Score against cost")
        self.assertIn("Of accuracy alone, without words (perplexity).", figure.text)
        self.assertEqual(len(figure.find_elements("css selector", "circle")), 3)
        self.assertIn("left out: words (perplexity).", self.page.text())
        rows = [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in self.page.find_all(".comparison tbody tr")]
        self.assertEqual([row[2] for row in rows], ["perplexity 87.30"] + ["accuracy 87.30 %"] * 3)
        self.assertEqual([row[-1] for row in rows], ["", "yes", "", ""])
        self.assert_no_complaints()

    def test_scores_of_different_metrics_are_kept_apart(self):
        self.open(self.run_made_up("pictures").train().finish(), self.language_model("words"))
        self.assertNotIn("Score against cost", self.page.titles())
        self.assertIn("No two runs have scores of the same metric", self.page.text())
        self.assertEqual([row.find_elements("css selector", "th, td")[2].text
                          for row in self.page.find_all(".comparison tbody tr")],
                         ["accuracy 87.30 %", "perplexity 87.30"])
        self.assertEqual(self.page.table("Perplexity at each evaluation width"),
                         [["Run", "3", "4", "8", "fp"], ["words", "78.30", "83.30", "87.30", "87.40"]])
        self.assertEqual(self.page.table("Accuracy at each evaluation width")[1][0], "pictures")
        self.assert_no_complaints()

    def test_one_can_be_chosen_for_its_details(self):
        self.open(*[self.run_made_up(f"seed{seed}", seed=seed).train().finish() for seed in (1, 2, 3)])
        self.assertNotIn("Bits by layer and step", self.page.titles())
        self.page.find("#detail option[value='1']").click()
        self.assertIn("Bits by layer and step", self.page.titles())
        self.assertEqual([title.text for title in self.page.find_all("h1")], ["3 runs", "seed2"])
        self.assert_no_complaints()

    def test_landscapes_stand_side_by_side_with_labelled_contours(self):
        wide, narrow = self.run_made_up("wide").train().landscape(2.0), self.run_made_up("narrow", seed=2).train().landscape()
        self.open(wide, narrow)
        title = "Loss landscape at 8 bits"
        rows = self.page.table(title)
        self.assertEqual([row[0] for row in rows[1:]], ["wide", "narrow"])
        for row, area in zip(rows[1:], (math.pi * 0.5, math.pi * 0.25), strict=True):
            self.assertAlmostEqual(number(row[4]), area, delta=0.02)
        panels = self.page.find_all("svg.landscape")
        self.assertEqual(len(panels), 2)
        for panel in panels:
            self.assertIn("0.6", [label.text for label in panel.find_elements("css selector", ".contour-label")])
        corner = self.page.ask("""const panel = arguments[0], lines = [...panel.querySelectorAll(".axes line")];
            const box = panel.getBoundingClientRect(), most = (name) => Math.max(...lines.map((line) => line[name].baseVal.value));
            return [most("x1") / box.width, most("y1") / box.height]""", panels[1])
        self.page.point(panels[1], *corner)  # alpha 1, beta -1
        self.assertEqual(self.page.readout(title), "narrow, 1, -1: loss 4.05")
        self.assert_no_complaints()


if __name__ == "__main__":
    browser_case.main()
