"""A headless Chromium, moved by mouse and keys as people move it, and what tests read on the page."""

import os
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

FIGURE = """[...document.querySelectorAll("main figure")].find((figure) =>
    !figure.hidden && figure.querySelector("h3").textContent === arguments[0])"""
# Whether a figure is drawn and stays in the middle of the window for two frames; a promise, which is waited for.
AT_REST = """((figure) => {
    figure.scrollIntoView({ block: "center", behavior: "instant" });
    const before = figure.getBoundingClientRect().top;
    const drawn = () => figure.querySelector(".plot canvas, .drawing canvas[style], .drawing svg, .drawing table") !== null;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
        done(drawn() && figure.getBoundingClientRect().top === before))));
})(arguments[0])"""


def service():
    """Releases of Selenium differ in how the driver's log is kept quiet."""
    driver = shutil.which("chromedriver")
    quiet = {"log_output": os.devnull} if "log_output" in Service.__init__.__code__.co_varnames else {}
    return Service(driver, **quiet)


class Page:
    def __init__(self, width=1280, height=900):
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--hide-scrollbars", f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.set_capability("unhandledPromptBehavior", "ignore")
        self.driver = webdriver.Chrome(service=service(), options=options)
        self.driver.set_script_timeout(120)
        self.tell("Performance.enable", timeDomain="threadTicks")

    def close(self):
        self.driver.quit()

    def open(self, address):
        self.driver.get(address)

    def tell(self, command, **arguments):
        """Chromium itself rather than the page, by its DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, arguments)

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=60):
        return WebDriverWait(self.driver, seconds, 0.1).until(
            lambda driver: driver.execute_script("return " + script, *arguments), f"waited for {script}")

    def wait_for_text(self, text):
        self.wait("document.body.innerText.includes(arguments[0])", text)

    def complaints(self):
        """What the browser's console has to say, other than chatter."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def text(self):
        return self.ask("return document.body.innerText")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def titles(self):
        """Of the charts that can be seen."""
        return self.ask("""return [...document.querySelectorAll("main figure")]
            .filter((figure) => figure.offsetParent !== null && figure.querySelector(".plot, .drawing"))
            .map((figure) => figure.querySelector("h3").textContent)""")

    def card(self, title):
        """A chart where it is; scrolling would move it away under the mouse."""
        return self.ask(f"return {FIGURE}", title)

    def figure(self, title):
        """In the middle of the window, drawn, and at rest: those around it are drawn as they come near."""
        figure = self.card(title)
        self.wait(AT_REST, figure)
        return figure

    def plot(self, title):
        return self.figure(title).find_element(By.CSS_SELECTOR, ".plot, .drawing canvas, .drawing svg")

    def table(self, title):
        """The values of a chart, as its table shows them when it is clicked open: the header, then rows."""
        figure = self.figure(title)
        details = figure.find_element(By.CSS_SELECTOR, "details")
        if not details.get_attribute("open"):
            details.find_element(By.CSS_SELECTOR, "summary").click()
        self.wait("arguments[0].querySelector('tr') !== null", details)
        return self.ask("""return [...arguments[0].querySelectorAll("tr")].map((row) =>
            [...row.children].map((cell) => cell.textContent))""", details)

    def legend(self, title):
        """The entries of a chart's legend: name and, while somebody points at a step, value."""
        return self.ask("""return [...arguments[0].querySelectorAll(".legend button")].map((button) =>
            [[...button.childNodes].find((node) => node.nodeType === Node.TEXT_NODE).textContent,
             button.querySelector(".value").textContent])""", self.card(title))

    def readout(self, title):
        return self.card(title).find_element(By.CSS_SELECTOR, ".readout").get_attribute("textContent")

    def steps_shown(self, title):
        """By the labels of a chart's axis: those of its first and last."""
        labels = self.ask("""return [...arguments[0].querySelectorAll(".dygraph-axis-label-x")].map((label) =>
            Number(label.textContent.replace(",", "")))""", self.figure(title))
        return min(labels), max(labels)

    def actions(self):
        return ActionChains(self.driver, duration=0)

    def point(self, target, x, y=0.5):
        """Moves the mouse to shares of an element's width and height."""
        size = target.size
        self.actions().move_to_element_with_offset(
            target, round((x - 0.5) * size["width"]), round((y - 0.5) * size["height"])).perform()

    def drag(self, target, start, end):
        """Across an element, between two shares of its width."""
        self.point(target, start)
        half = round((end - start) * target.size["width"] / 2)
        self.actions().click_and_hold().move_by_offset(half, 0).move_by_offset(half, 0).release().perform()

    def double_click(self, target):
        self.actions().double_click(target).perform()

    def click(self, target, *held):
        self.ask("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", target)
        actions = self.actions()
        for key in held:
            actions.key_down(key)
        actions.click(target)
        for key in held:
            actions.key_up(key)
        actions.perform()

    def press(self, *keys):
        self.actions().send_keys(*keys).perform()

    def tab_to(self, target, most=40):
        """Presses Tab until an element is focused."""
        for _ in range(most):
            self.press(Keys.TAB)
            if self.driver.switch_to.active_element == target:
                return
        raise AssertionError(f"Tab does not reach {target.get_attribute('outerHTML')[:80]}")

    def show_in(self, scheme):
        """"light" or "dark", as the system would prefer it."""
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def resize(self, width):
        """As on a screen of that width; None for the window's own."""
        if width is None:
            self.tell("Emulation.clearDeviceMetricsOverride")
        else:
            self.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            self.wait("innerWidth === arguments[0]", width)
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def busy_seconds(self):
        """Processor time of the page's thread so far."""
        metrics = self.tell("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def slowdown(self):
        """How much longer a page's work takes by the clock than by the processor: 1 where nobody else is at work."""
        before = self.busy_seconds()
        elapsed = self.ask("""const begin = performance.now();
            let sum = 0;
            for (let i = 0; i < 3e7; ++i) sum += Math.sqrt(i);
            return (performance.now() - begin) / (sum > 0 ? 1000 : 1)""")
        return max(1.0, elapsed / (self.busy_seconds() - before))

    def seconds_to_open(self, address):
        """By the clock, from the beginning of the navigation until what is in view is drawn, and all the other figures after it."""
        self.open(address)
        self.wait("performance.getEntriesByName('drawn').length > 0")
        return self.ask("""const begin = performance.now();
            page.drawAll();
            return [performance.getEntriesByName("drawn")[0].startTime / 1000, (performance.now() - begin) / 1000]""")

    def screenshot(self, path):
        self.driver.save_screenshot(str(path))
