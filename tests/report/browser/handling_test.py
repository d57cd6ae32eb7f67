"""The page under mouse, keys, other widths, other colours and on paper."""

import browser_case
from browser_case import number
from selenium.webdriver.common.keys import Keys

LINKED = ("Loss", "Accuracy", "Learning rate", "Bits", "Cost so far")  # of the same width
WHOLE = (0, 400)


class Handling(browser_case.BrowserCase):
    def all_agree_on_steps(self):
        shown = {self.page.steps_shown(title) for title in LINKED}
        self.assertEqual(len(shown), 1, f"linked charts show the same steps: {shown}")
        return shown.pop()

    def assert_values_of_the_log(self, run, title, name):
        """The legend has the values of the step that the readout names."""
        step = number(self.page.readout(title).removeprefix("step "))
        line = next(line for line in run.logged() if line["step"] == step)
        self.assertAlmostEqual(number(dict(self.page.legend(title))["training"]), line[name], delta=5e-4 * line[name])

    def test_dragging_zooms_all_charts_and_a_double_click_shows_the_whole_run(self):
        self.open(self.run_made_up().train())
        self.assertEqual(self.all_agree_on_steps(), WHOLE)
        self.assertFalse(self.page.find("#reset-zoom").is_enabled())
        self.page.drag(self.page.plot("Loss"), 0.4, 0.6)
        low, high = self.all_agree_on_steps()
        self.assertTrue(100 < low < 200 < high < 300, (low, high))
        self.page.double_click(self.page.plot("Accuracy"))
        self.assertEqual(self.all_agree_on_steps(), WHOLE)
        self.page.drag(self.page.plot("Cost so far"), 0.7, 0.5)
        self.assertNotEqual(self.all_agree_on_steps(), WHOLE)
        self.page.click(self.page.find("#reset-zoom"))
        self.assertEqual(self.all_agree_on_steps(), WHOLE)
        self.assert_no_complaints()

    def test_pointing_shows_the_values_of_a_step_in_all_charts(self):
        run = self.run_made_up().train()
        self.open(run)
        self.page.point(self.page.plot("Loss"), 0.5)
        self.page.wait("document.querySelector('.readout').textContent !== ''")
        readouts = [figure.text for figure in self.page.find_all(".stack .readout")]
        self.assertEqual(len(set(readouts)), 1, readouts)
        for title, name in (("Loss", "loss"), ("Accuracy", "accuracy")):
            self.assert_values_of_the_log(run, title, name)

    def test_pointing_at_a_cell_tells_layer_steps_and_bits(self):
        run = self.run_made_up().train()
        self.open(run)
        title = "Bits by layer and step"
        self.page.point(self.page.plot(title), 0.6, 0.4)
        layer, steps = self.page.readout(title).split(", steps ")
        self.assertTrue(layer.startswith("layer"), layer)
        steps, bits = steps.split(": ")
        first, last = (int(number(step)) for step in steps.split("–"))
        self.assertIn(number(bits), run.bits[first - 1:last])

    def test_keys_move_zoom_and_speak(self):
        run = self.run_made_up().train()
        self.open(run)
        plot = self.page.plot("Loss")
        self.page.tab_to(plot)
        self.page.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.END)
        said = plot.get_attribute("aria-valuetext")
        self.assertTrue(said.startswith("Step 400: training "), said)
        self.assert_values_of_the_log(run, "Loss", "loss")
        self.page.press(Keys.ARROW_LEFT)
        self.assertEqual(self.page.readout("Loss"), "step 390")
        self.page.press(Keys.END, "+")
        self.assertEqual(self.all_agree_on_steps(), (200, 400))
        self.page.press("-")
        self.assertEqual(self.all_agree_on_steps(), WHOLE)
        self.page.press("+", Keys.ESCAPE)
        self.assertEqual(self.all_agree_on_steps(), WHOLE)
        map_of_bits = self.page.plot("Bits by layer and step")
        self.page.tab_to(map_of_bits)
        self.page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        self.assertIn("bits", map_of_bits.get_attribute("aria-valuetext"))
        self.assertEqual(self.page.readout("Bits by layer and step"), map_of_bits.get_attribute("aria-valuetext"))

    def test_clicks_in_the_legend_hide_a_curve_or_all_others(self):
        self.open(self.run_made_up().train())
        figure = self.page.figure("Loss")
        training, validation = figure.find_elements("css selector", ".legend button")
        pressed = lambda: [button.get_attribute("aria-pressed") for button in (training, validation)]
        ink = lambda: self.page.ask("""const drawn = arguments[0].querySelector("canvas");
            return drawn.getContext("2d").getImageData(0, 0, drawn.width, drawn.height).data.reduce((sum, value) => sum + value)""", figure)
        both = ink()
        self.page.click(training)
        self.assertEqual(pressed(), ["false", "true"])
        without = ink()
        self.assertLess(without, both)
        self.page.click(training)
        self.assertEqual((pressed(), ink()), (["true", "true"], both))
        self.page.click(validation, Keys.SHIFT)
        self.assertEqual((pressed(), ink()), (["false", "true"], without))
        self.page.press(Keys.SPACE)  # the focused button
        self.assertEqual(pressed(), ["false", "false"])

    def test_resizing_keeps_charts_as_wide_as_their_place(self):
        self.open(self.run_made_up(layers=True).train().finish())
        for title in self.page.titles():
            self.page.figure(title)
        for width in (420, 1500, 800):
            self.page.resize(width)
            self.page.wait("""innerWidth === arguments[0] && [...document.querySelectorAll(".plot, .drawing")].every((place) => {
                const drawn = place.querySelector("canvas, svg");
                return !drawn || place.clientWidth === 0 || Math.abs(drawn.getBoundingClientRect().width - place.clientWidth) < 2;
            })""", width)
            self.assertLessEqual(self.page.ask("return document.documentElement.scrollWidth - innerWidth"), 0)
        self.page.resize(None)
        self.assert_no_complaints()

    def test_colours_follow_the_system_and_the_button(self):
        self.open(self.run_made_up().train())
        ground = lambda: self.page.ask("return getComputedStyle(document.documentElement).backgroundColor")
        grounds = {}
        for scheme in ("light", "dark"):
            self.page.show_in(scheme)
            grounds[scheme] = ground()
        self.assertNotEqual(grounds["light"], grounds["dark"])
        button = self.page.find("#theme")
        for expected in ("light", "dark"):
            self.page.click(button)
            self.assertEqual((button.text.split()[-1], ground()), (expected.capitalize(), grounds[expected]))
        self.page.show_in("light")

    def test_paper_has_whole_tables(self):
        self.open(*[self.run_made_up(f"a-run-with-a-name-that-is-rather-long-{i}", low=3 + i).train().finish() for i in range(2)])
        cut = self.print_page("""return [...document.querySelectorAll(".card, .scroll")].filter((part) => part.offsetParent !== null)
            .map((part) => part.scrollWidth - part.clientWidth)""")
        self.assertGreater(len(cut), 5)
        self.assertLessEqual(max(cut), 0)

    def test_paper_has_all_charts_in_light_colours(self):
        self.open(self.run_made_up().train())
        self.page.show_in("dark")
        printed = self.print_page("""return { theme: document.documentElement.dataset.theme,
            inked: [...document.querySelectorAll(".print-copy")].map((copy) =>
              copy.getContext("2d").getImageData(0, 0, copy.width, copy.height).data.some((value) => value > 0)) }""")
        self.assertEqual(printed["theme"], "light")
        self.assertEqual(printed["inked"], [True] * 7)  # line charts
        self.assertEqual(self.page.ask("return document.documentElement.dataset.theme"), "dark")
        self.page.show_in("light")


if __name__ == "__main__":
    browser_case.main()
