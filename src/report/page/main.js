// What the page shows, and when it is drawn: a figure when it comes into view, all of them before
// printing.

const page = { report: null, sections: [], figures: [], link: null, detail: -1 };

const inView = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting && entry.target.figure) entry.target.figure.draw();
  }
}, { rootMargin: "500px" });

function place(sections) {
  const main = document.getElementById("content");
  for (const made of sections) {
    main.append(made.element);
    page.sections.push(made);
    for (const figure of made.figures) {
      page.figures.push(figure);
      figure.element.figure = figure;
      inView.observe(figure.element);
    }
  }
}

// Figures first, so that linked charts agree on the steps of all.
function refreshPage() {
  for (const figure of page.figures) figure.refresh();
  for (const { element: made, figures } of page.sections) {
    made.hidden = figures.every((figure) => figure.element.hidden ||
      (figure.element.className === "part" && figure.element.childElementCount === 0));
  }
  document.title = page.report.runs.length === 1 ? `${page.report.runs[0].name} – Bitcycle`
                                                 : `${runsTitle(page.report)} – Bitcycle`;
  for (const figure of page.figures) {
    const box = figure.element.getBoundingClientRect();
    if (box.top < window.innerHeight + 500 && box.bottom > -500) figure.draw();
  }
}

page.drawAll = () => { for (const figure of page.figures) figure.draw(); };

function clearPage() {
  inView.disconnect();
  page.sections = [];
  page.figures = [];
  page.link = new Link();
  document.getElementById("content").replaceChildren();
  document.getElementById("reset-zoom").disabled = true;
}

function showReport(report) {
  page.report = report;
  clearPage();
  const current = () => page.report;
  if (report.runs.length === 1) {
    const run = () => page.report.runs[0];
    place([section("", "", [part(() => glance(run()))]), ...runPage(run, page.link)]);
  } else {
    place(comparisonPage(current, page.link, showDetail));
    if (page.detail >= 0 && page.detail < report.runs.length) placeDetail();
  }
  refreshPage();
}

function placeDetail() {
  const run = () => page.report.runs[page.detail];
  place([section("", "", [part(() => glance(run()))]), ...runPage(run, new Link())]);
}

function showDetail(index) {
  page.detail = index;
  const at = window.scrollY;
  showReport(page.report);
  window.scrollTo(0, at);
  document.getElementById("detail").focus();
}

function showWelcome(notice = "") {
  clearPage();
  document.getElementById("content").append(element("div", { class: "welcome" },
    element("h1", {}, "Choose runs"), notice ? element("p", { class: "notice" }, notice) : null, element("p", {}, "One run shows its charts, several are laid over each other.")));
}

function setTheme(chosen) {
  theme.chosen = chosen;
  theme.apply();
  const button = document.getElementById("theme"), text = { system: "System", light: "Light", dark: "Dark" }[chosen];
  button.lastElementChild.textContent = text;
  button.setAttribute("aria-label", `Colours: ${chosen === "system" ? "as the system" : chosen}`);
  if (page.report) refreshPage();
}

function begin() {
  page.link = new Link();
  theme.apply();
  document.getElementById("theme").addEventListener("click", () =>
    setTheme(theme.choices[(theme.choices.indexOf(theme.chosen) + 1) % theme.choices.length]));
  document.getElementById("reset-zoom").addEventListener("click", () => page.link.zoom(null));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(theme.chosen));
  // Paper has a width of its own, and no script runs once it is laid out.
  const printing = (on) => {
    theme.printing = on;
    theme.apply();
    document.documentElement.classList.toggle("printing", on);
    if (!page.report) return;
    if (on) page.drawAll();
    for (const figure of page.figures) if (figure.fit) figure.fit();
    refreshPage();
    for (const figure of page.figures) if (figure.print) figure.print(on);
  };
  window.addEventListener("beforeprint", () => printing(true));
  window.addEventListener("afterprint", () => printing(false));
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data) showReport(data); else live.start();
}

begin();
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("drawn")));
