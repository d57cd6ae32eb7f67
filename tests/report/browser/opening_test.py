"""Long runs and many runs: pages stay small and open quickly."""

import browser_case
from browser_case import number

SECONDS = 2.0  # of the page's own processor time, so that a busy machine does not count


class Opening(browser_case.BrowserCase):
    def test_a_run_of_64000_logged_steps(self):
        run = self.run_made_up(steps=64000, every=1).train().finish()
        target = self.open(run)
        self.assertLess(target.stat().st_size, 1_000_000)
        self.assertLess(self.page.seconds_to_draw(), SECONDS)
        logged = {line["step"]: line["loss"] for line in run.logged()}
        rows = self.page.table("Loss")[1:]
        self.assertGreater(len(rows), 300)
        self.assertEqual(number(rows[0][0]), 1)
        for row in rows:
            if row[1]:
                self.assertAlmostEqual(number(row[1]), logged[number(row[0])], delta=5e-4 * logged[number(row[0])])
        self.assertEqual(self.page.plot("Loss").get_attribute("aria-valuemax"), "64000")
        self.assert_no_complaints()

    def test_thirty_runs(self):
        self.open(*[self.run_made_up(f"run{i}", steps=4000, every=10, seed=i, low=3 + i % 5).train().finish()
                    for i in range(30)])
        self.assertLess(self.page.seconds_to_draw(), SECONDS)
        self.assertEqual(len(self.page.find_all("#detail option")), 31)
        self.assert_no_complaints()


if __name__ == "__main__":
    browser_case.main()
