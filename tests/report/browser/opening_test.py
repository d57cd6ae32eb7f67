"""Long runs and many runs: pages stay small and open quickly."""

import statistics

import browser_case
from browser_case import number

SECONDS = 2.0  # by the clock, from the beginning of the navigation to the last figure drawn
LOADS = 3


class Opening(browser_case.BrowserCase):
    def assert_opens_quickly(self, target):
        """The median of some loads, each divided by how much slower the page's thread is while others are at work."""
        seconds = []
        for _ in range(LOADS):
            self.page.open("about:blank")
            before = self.page.slowdown()
            in_view, others = self.page.seconds_to_open(target.as_uri())
            slowdown = (before + self.page.slowdown()) / 2
            seconds.append((in_view + others) / slowdown)
            print(f"drawn in view after {in_view:.2f} s, all others in {others:.2f} s, at {slowdown:.2f} times the time", flush=True)
        self.assertLess(statistics.median(seconds), SECONDS, seconds)

    def test_a_run_of_64000_logged_steps(self):
        run = self.run_made_up(steps=64000, every=1).train().finish()
        target = self.report(run)
        self.assertLess(target.stat().st_size, 1_000_000)
        self.assert_opens_quickly(target)
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
        runs = [self.run_made_up(f"run{i}", steps=4000, every=10, seed=i, low=3 + i % 5).train().finish() for i in range(30)]
        self.assert_opens_quickly(self.report(*runs))
        self.assertEqual(len(self.page.find_all("#detail option")), 31)
        self.assert_no_complaints()


if __name__ == "__main__":
    browser_case.main()
