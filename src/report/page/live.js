// The page of `bitcycle watch`: a list of runs to choose from, and news of the chosen ones as they
// come (server-sent events). A page from a file has its data in it and needs none of this.

const live = {
  source: null,

  chosen() { return new URLSearchParams(location.search).getAll("run"); },

  query(names) {
    const query = new URLSearchParams();
    names.forEach((name) => query.append("run", name));
    return query.toString();
  },

  choose(names) {
    history.pushState(null, "", `?${this.query(names)}`);
    this.follow();
  },

  start() {
    window.addEventListener("popstate", () => this.follow());
    this.follow();
  },

  // One stream for both the list and the runs; the browser connects again by itself.
  follow() {
    if (this.source) this.source.close();
    const names = this.chosen(), source = new EventSource(`events?${this.query(names)}`);
    this.source = source;
    page.report = null;
    source.addEventListener("list", (event) => this.list(JSON.parse(event.data)));
    source.addEventListener("report", (event) => this.news(JSON.parse(event.data)));
    source.addEventListener("full", (event) => this.say(`waiting: ${event.data} other pages are open`));
    source.addEventListener("open", () => this.say("live"));
    source.addEventListener("error", () => this.failed(source, names));
    if (names.length === 0) showWelcome();
  },

  // A connection that broke comes back by itself; one that was refused does not: a run is gone.
  failed(source, names) {
    if (source.readyState !== EventSource.CLOSED || names.length === 0) return this.say("the server does not answer");
    this.choose([]);
    showWelcome("A run of this address is not there (any more).");
  },

  say(text) {
    const place = document.getElementById("connection");
    place.textContent = text;
    place.className = text === "live" ? "on" : "off";
  },

  // Only the runs that have changed come; "runs" has them by their place.
  news({ runs, comparison, count: length }) {
    const fresh = !page.report || page.report.runs.length !== length;
    if (fresh) page.report = { runs: [], comparison: null };
    Object.entries(runs).forEach(([index, run]) => { page.report.runs[Number(index)] = run; });
    page.report.comparison = comparison;
    if (fresh) showReport(page.report); else refreshPage();
  },

  list(runs) {
    const nav = document.getElementById("runs"), chosen = new Set(this.chosen());
    nav.hidden = false;
    const item = (run) => {
      const box = element("input", { type: "checkbox", value: run.name, onchange: () => this.pick(nav) });
      box.checked = chosen.has(run.name);
      const progress = run.total > 0 ? `${Math.floor((100 * run.step) / run.total)} %` : `step ${count(run.step)}`;
      return element("li", {}, element("label", {}, box,
        element("span", { class: "run-name" }, run.name),
        element("span", { class: `run-state ${run.state}` }, run.state === "running" ? progress : run.state)));
    };
    const focused = document.activeElement && nav.contains(document.activeElement) ? document.activeElement.value : null;
    const all = element("button", { type: "button", onclick: () => this.choose(runs.map((run) => run.name)) }, "All");
    const none = element("button", { type: "button", onclick: () => this.choose([]) }, "None");
    nav.replaceChildren(element("div", { class: "nav-head" }, element("h2", {}, "Runs"), all, none),
      runs.length ? element("ul", {}, ...runs.map(item)) : element("p", {}, "No runs yet in this folder."));
    if (focused !== null) [...nav.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
  },

  pick(nav) {
    this.choose([...nav.querySelectorAll("input:checked")].map((box) => box.value));
  },
};
