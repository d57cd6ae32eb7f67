"""A headless Chromium with the page in it, and the questions that tests ask of the page."""

import os
import shutil
import sys

SKIPPED = 77

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("python3-selenium is not installed: scripts/install-packages --browser")
    sys.exit(SKIPPED)


def require_browser():
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if missing:
        print(f"{' and '.join(missing)} not found: scripts/install-packages --browser")
        sys.exit(SKIPPED)


class Page:
    def __init__(self, width=1280, height=900):
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--hide-scrollbars", f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.set_capability("unhandledPromptBehavior", "ignore")
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver"), log_output=os.devnull)
                                       if "log_output" in Service.__init__.__code__.co_varnames
                                       else Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(30)
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

    def close(self):
        self.driver.quit()

    def open(self, address):
        self.driver.get(address)

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, seconds=30):
        return WebDriverWait(self.driver, seconds).until(lambda driver: driver.execute_script("return " + script))

    def complaints(self):
        """What the browser's console has to say, other than chatter."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def text(self):
        return self.ask("return document.body.innerText")

    def titles(self):
        """Of the charts that can be seen."""
        return self.ask("""bitcyclePage.drawAll();
            return bitcyclePage.figures.filter((f) => !f.element.hidden && f.refresh && f.options)
                .map((f) => f.options.title)""")

    def table(self, title):
        """The values of a chart, as its table shows them: the header, then rows."""
        return self.ask("""
            const figure = bitcyclePage.figures.find((f) => f.options?.title === arguments[0]);
            const details = figure.element.querySelector("details");
            details.open = true;
            figure.refresh();
            return [...details.querySelectorAll("tr")].map((row) => [...row.children].map((cell) => cell.textContent))""", title)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def drag(self, target, start, end):
        """Across an element, between two shares of its width."""
        width = target.size["width"]
        (ActionChains(self.driver).move_to_element_with_offset(target, round((start - 0.5) * width), 0).click_and_hold()
         .move_by_offset(round((end - start) * width / 2), 0).move_by_offset(round((end - start) * width / 2), 0)
         .release().perform())

    def double_click(self, target):
        ActionChains(self.driver).double_click(target).perform()

    def seconds_to_draw(self):
        """Processor time of the page's thread until it has drawn what is in view."""
        self.wait("performance.getEntriesByName('drawn').length > 0")
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def screenshot(self, path):
        self.driver.save_screenshot(str(path))
