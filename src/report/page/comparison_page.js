// Several runs: a table with spread, score against cost, spread over seeds, the curves of all runs
// over each other, and one of them in detail.

// Runs of a group have one colour; where each is a group of its own, each has its own.
function colourOf(report, index) {
  return report.comparison.groups.findIndex((group) => group.runs.includes(index));
}

function spreadText(metric, group) {
  if (group.mean === undefined) return "–";
  const unit = metric && metric.form === "percent";
  const error = group.error === null || group.error === undefined ? "" : ` ± ${unit ? group.error.toFixed(2) : significant(group.error, 2)}`;
  return unit ? `${group.mean.toFixed(2)}${error} %` : `${metricText(metric, group.mean)}${error}`;
}

const metricWord = (metric) => words(metric.name).toLowerCase();

// Where groups have different metrics, each score says of which it is.
function scoreText(report, group) {
  const own = report.runs[group.runs[0]].overview.metric, text = spreadText(own, group);
  const alike = report.comparison.apart.length === 0;
  return alike || !own || group.mean === undefined ? text : `${metricWord(own)} ${text}`;
}

function differenceText(report, group) {
  if (!group.difference) return "–";
  const metric = report.runs[group.runs[0]].overview.metric, { value, error, pairing } = group.difference;
  const digits = metric && metric.form === "mean" ? 4 : 2;
  const spread = error === null ? "" : ` ± ${error.toFixed(digits)}${pairing === "Welch" ? " W" : ""}`;
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}${spread}`;
}

// How far a group is of which no run has finished; "" of the others.
function progressText(report, group) {
  const runs = group.runs.map((run) => report.runs[run].overview);
  if (group.finished || runs.every((run) => run.state === "gone")) return "";
  const done = runs.map((run) => run.steps_done), least = Math.min(...done), most = Math.max(...done);
  const steps = least === most ? `step ${count(most)}` : `steps ${count(least)} to ${count(most)}`;
  return `${steps} of ${count(Math.max(...runs.map((run) => run.steps_total)))}`;
}

function labelWithProgress(report, group) {
  return [group.label, progressText(report, group)].filter(Boolean).join(", ");
}

// The columns of the table: a title, and what a group has in it. Some are for the runs of sweeps.
function comparisonColumns(report) {
  const { metric, apart, groups } = report.comparison;
  const runs = (group) => group.counted < group.runs.length ? `${count(group.counted)} of ${count(group.runs.length)}`
    : count(group.runs.length);
  const named = report.runs.some((run) => run.sweep), held = groups.some((group) => group.baseline !== undefined);
  const precision = (group) => report.runs[group.runs[0]].overview.precision || "–";
  return [
    [named ? "Name" : "Precision", (group) => labelWithProgress(report, group)], named && ["Precision", precision], ["Runs", runs],
    [metric && apart.length === 0 ? words(metric.name) : "Score", (group) => element("strong", {}, scoreText(report, group))],
    held && ["Difference", (group) => differenceText(report, group)],
    ["GBitOPs", (group) => (group.gbitops === null ? "–" : significant(group.gbitops))],
    held && ["Less than baseline", (group) => percent(group.saving_baseline_percent)],
    ["Less than static", (group) => percent(group.saving_percent)],
    ["Less than float", (group) => percent(group.saving_float_percent)],
    ["Training time", (group) => duration(group.seconds)],
    metric && ["On the front", (group) => (group.front ? "yes" : "")],
  ].filter(Boolean);
}

function baselineNote({ comparison: { groups } }) {
  const names = [...new Set(groups.filter((group) => group.baseline !== undefined).map((group) => groups[group.baseline].label))];
  return names.length === 0 ? "" : ` Differences are from ${names.join(", ")}, the sweep's baseline, over same-seed pairs (W: Welch's).`;
}

// Which runs are left out of figures of one metric; "" where all have the same.
function apartText({ runs, comparison: { apart } }, most = 6) {
  const names = apart.map((run) => `${runs[run].name} (${metricWord(runs[run].overview.metric)})`);
  const more = names.length > most ? [`${names.length - most} more`] : [];
  return [...names.slice(0, most), ...more].join(", ");
}

function metricNote(report) {
  const { metric, apart } = report.comparison;
  if (apart.length === 0) return "";
  if (!metric) return " No two runs have scores of the same metric, so that there is no score against cost, and no front.";
  return ` Score against cost, front and spread over seeds are of ${metricWord(metric)} alone; left out: ${apartText(report)}.`;
}

function comparisonTable(report) {
  const columns = comparisonColumns(report);
  return element("figure", { class: "card chart" },
    element("figcaption", {}, element("h3", {}, "Runs that differ in nothing but their seeds, together")),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Comparison" },
      table(columns.map(([title]) => title), report.comparison.groups.map((group) => columns.map(([, text]) => text(group))),
        { class: "comparison" })),
    element("p", { class: "note" }, "Means ± standard error of the mean, over the finished runs of each group, whose scores are of the test set; where none has finished, over all, with their best scores so far." +
      baselineNote(report) + metricNote(report)));
}

function runsTable(report) {
  const rows = report.runs.map((run) => {
    const { overview } = run, score = overview.test || overview.best;
    return [run.name, overview.precision || "–", overview.seed === undefined ? "–" : String(overview.seed),
      overview.state, overview.state === "gone" ? "–" : `${count(overview.steps_done)} of ${count(overview.steps_total)}`,
      score ? metricText(overview.metric, score.value) : "–", score ? score.split : "–",
      significant(overview.gbitops), duration(overview.seconds)];
  });
  return element("details", { class: "card recipe" }, element("summary", {}, "Each run"),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Each run" },
      table(["Run", "Precision", "Seed", "State", "Steps", "Score", "Of", "GBitOPs", "Training time"], rows)));
}

function allNotices(report) {
  const list = report.runs.flatMap((run) => run.notices.map((notice) => `${run.name}: ${notice}`));
  return list.length === 0 ? null : element("ul", { class: "notice", "aria-label": "Notices" },
    ...list.map((notice) => element("li", {}, notice)));
}

// The groups with a score of the metric that most runs have.
function scored({ comparison: { metric, apart, groups } }) {
  return metric ? groups.filter((group) => group.mean !== undefined && !apart.includes(group.runs[0])) : [];
}

function frontTable(report, groups) {
  const key = (group) => element("i", { class: "key", style: { background: seriesColour(report.comparison.groups.indexOf(group)) } });
  return table(["Name", words(report.comparison.metric.name), "GBitOPs", "On the front"], groups.map((group) =>
    [element("span", {}, key(group), labelWithProgress(report, group)), spreadText(report.comparison.metric, group),
     significant(group.gbitops), group.front ? "yes" : ""]));
}

function frontFigure(report) {
  const metric = () => report().comparison.metric;
  const costed = () => scored(report()).filter((group) => group.gbitops > 0);
  const without = () => (report().comparison.apart.length === 0 ? "" : ` Of ${metricWord(metric())} alone, without ${apartText(report())}.`);
  return new FrontPlot({ wide: true, title: "Score against cost", xTitle: "GBitOPs of the run", has: () => costed().length > 1,
    format: (value) => metricText(metric(), value), table: () => frontTable(report(), costed()),
    note: () => "Filled and joined: no other is at least as good at no more cost. Those that have not finished, with their best scores and costs so far, do not count. Bars: standard error over seeds." +
      (metric() ? without() : ""),
    points: () => costed().map((group) => ({ label: labelWithProgress(report(), group), x: group.gbitops, y: group.mean, error: group.error,
      front: group.front, colour: report().comparison.groups.indexOf(group),
      hint: `${group.label}: ${spreadText(metric(), group)}, ${significant(group.gbitops)} GBitOPs` })) });
}

function boxFigure(report) {
  const metric = () => report().comparison.metric;
  const repeated = () => scored(report()).filter((group) => group.scores.length > 1);
  return new BoxPlot({ title: "Spread over seeds", xTitle: "test score, or best so far", has: () => repeated().length > 0,
    format: (value) => metricText(metric(), value),
    note: () => "Box: quartiles and median; line: lowest to highest; dots: runs.",
    boxes: () => repeated().map((group) => ({ label: group.label, box: group.box, values: group.scores,
      colour: report().comparison.groups.indexOf(group),
      hint: `${group.label}: ${spreadText(metric(), group)}, ${group.scores.length} runs` })) });
}

// One curve for each run that has it, and one entry in the legend for each group.
function overlaid(report, pick, more = {}) {
  return report.runs.map((run, i) => curveOf(run.name, pick(run),
    { colour: colourOf(report, i), entry: report.comparison.groups[colourOf(report, i)].label, ...more })).filter(Boolean);
}

function overlaidFigures(report, link) {
  const chart = (title, pick, format, height, more) =>
    new LineChart({ title, format, height, link, shared: true, curves: () => overlaid(report(), pick, more) });
  const splits = [...new Set(report().runs.flatMap((run) => Object.keys(run.evaluations)))]
    .filter((split) => !split.startsWith("averaged_"))  // one point each
    .filter((split) => split !== "test" || report().runs.every((run) => !run.evaluations.validation));
  const metrics = metricNames(report().runs);
  return [
    ...metrics.map((name) => chart(`Training ${words(name).toLowerCase()}`, (run) => run.training[name], formatOf(name), 240)),
    ...splits.flatMap((split) => metrics.map((name) => chart(`${words(split)} ${words(name).toLowerCase()}`,
      (run) => (run.evaluations[split] || {})[name], formatOf(name), 240, { dots: true }))),
    chart("Learning rate", (run) => run.learning_rate, (value) => significant(value, 3), 150),
    chart("Bits of weights", (run) => run.precision.bits && run.precision.bits.weight, bitsText, 170, { step: true }),
    chart("Bits of errors", (run) => run.precision.bits && run.precision.bits.error, bitsText, 130, { step: true }),
    new LineChart({ title: "Cost so far, GBitOPs", link, shared: true, height: 240, format: (value) => significant(value, 3),
      logarithmic: () => {
        const costs = report().runs.map((run) => run.overview.gbitops).filter((cost) => cost > 0);
        return Math.max(...costs) > 8 * Math.min(...costs);
      },
      curves: () => overlaid(report(), (run) => run.cost && run.cost.spent) }),
    chart("Time of a step", (run) => run.time && run.time.per_step, duration, 200),
  ];
}

// By group and bits, over all steps of its runs.
function stepTimes(report) {
  const rows = () => report().comparison.groups.flatMap((group, colour) => {
    const sums = new Map();
    for (const entry of group.runs.flatMap((run) => (report().runs[run].time || { by_bits: [] }).by_bits)) {
      const sum = sums.get(entry.bits) || { steps: 0, seconds: 0 };
      sums.set(entry.bits, { steps: sum.steps + entry.steps, seconds: sum.seconds + entry.steps * entry.seconds_per_step });
    }
    return [...sums].map(([bits, { steps, seconds }]) => ({ label: [`${group.label}, at `, whole(bits)], value: seconds / steps, colour,
      text: duration(seconds / steps) }));
  });
  return new Bars({ title: "Time of a step by bits", head: ["Group and bits", "Time", "Seconds"],
    has: () => rows().length > 0 && rows().length <= 100, rows, note: () => "Forward over backward bits; measured while training." });
}

// Cells of a sweep that have not begun have no directories yet.
function runsTitle({ runs }) {
  const sweeps = new Set(runs.map((run) => run.sweep && run.sweep.name)), { sweep } = runs[0];
  return sweep && sweeps.size === 1 && sweep.cells > runs.length ? `${runs.length} of the sweep's ${sweep.cells} runs`
    : `${runs.length} runs`;
}

function comparisonPage(report, link, chooseRun) {
  const title = part(() => [element("div", { class: "title" }, element("h1", {}, runsTitle(report()))),
    element("h2", { class: "hidden-text" }, "Results"), allNotices(report()), comparisonTable(report()), runsTable(report())]);
  const selector = part(() => {
    const select = element("select", { id: "detail", onchange: (event) => chooseRun(Number(event.target.value)) },
      element("option", { value: "-1" }, "choose a run"),
      ...report().runs.map((run, i) => element("option", { value: String(i) }, run.name)));
    select.value = String(page.detail);
    return element("p", { class: "select" }, element("label", { for: "detail" }, "One run in detail: "), select);
  });
  return [
    section("", "", [title]),
    section("Comparison", "", [frontFigure(report), boxFigure(report), ...widthFigures(() => report().runs, (i) => colourOf(report(), i)),
      ...landscapeFigures(() => report().runs)], "grid"),
    section("Curves", "Drag to zoom, double-click for all steps. A click on a name hides its curve, with Shift all others.",
      overlaidFigures(report, link), "stack"),
    section("Time", "", [stepTimes(report)]),
    section("Detail", "", [selector]),
  ];
}
