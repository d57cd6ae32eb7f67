"""axe-core on the pages: it finds nothing at all, however slight. In dark only colours can differ."""

import os
import pathlib

import browser_case

RULES = {"light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "dark": ["color-contrast", "link-in-text-block"]}
AXE = pathlib.Path(os.environ["BITCYCLE_AXE"]).read_text()
FINDINGS = """const [rules, done] = arguments;
    axe.run({ resultTypes: ["violations"], runOnly: rules }).then((result) => done(result.violations.map(({ id, impact, nodes }) =>
        `${id} (${impact}): ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`)))"""


class Accessibility(browser_case.BrowserCase):
    def assert_nothing_found(self):
        """With every chart drawn and every table open."""
        for title in self.page.titles():
            self.page.figure(title)
        self.page.ask("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        self.page.ask(AXE)
        for scheme, rules in RULES.items():
            self.page.show_in(scheme)
            self.assertEqual(self.page.driver.execute_async_script(FINDINGS, rules), [], scheme)

    def test_one_run(self):
        run = self.run_made_up(layers=True).train().finish().landscape()
        run.write("evaluations.json", "{")  # a notice
        self.open(run)
        self.assert_nothing_found()

    def test_a_run_with_gates(self):
        self.open(self.run_made_up(gates=True).train().finish())
        self.assert_nothing_found()

    def test_several_runs_and_one_in_detail(self):
        self.open(*[self.run_made_up(f"low{low}-seed{seed}", low=low, seed=seed).train().finish().landscape()
                    for low in (3, 8) for seed in (1, 2)])
        self.page.find("#detail option[value='1']").click()
        self.assert_nothing_found()

    def test_watch(self):
        self.run_made_up().train(until=200)
        self.run_made_up("other").train()
        self.serve()
        self.page.open(self.address)
        self.page.wait("document.querySelectorAll('nav input').length === 2")
        self.assert_nothing_found()
        self.page.find("nav input").click()
        self.page.wait_for_text("200 of 400 steps")
        self.assert_nothing_found()


if __name__ == "__main__":
    browser_case.main()
