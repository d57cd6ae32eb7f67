// One run: at a glance, then its charts. Every chart asks for the run when it is refreshed, so that
// the same page shows what has come since, or another run.

const roles = [{ value: "weight", text: "weights" }, { value: "activation", text: "activations" },
               { value: "error", text: "errors" }];

function heading(title, lead) {
  return element("div", { class: "heading" }, element("h2", {}, title), lead ? element("p", {}, lead) : null);
}

function curveOf(label, series, more) {
  return series ? { label, entry: label, ...series, ...more } : null;
}

// Whether a curve stays where it is at most of its points: then it jumps, and no slope leads to the next level.
function isPiecewise(series) {
  return Boolean(series) && series.y.filter((value, i) => i > 0 && value === series.y[i - 1]).length > 0.75 * (series.y.length - 1);
}

function notices(run) {
  if (run.notices.length === 0) return null;
  return element("ul", { class: "notice", "aria-label": "Notices" },
    ...run.notices.map((notice) => element("li", {}, notice)));
}

function card(title, value, ...lines) {
  return element("div", { class: "card fact" }, element("h3", {}, title), element("p", { class: "big" }, value),
    ...lines.filter(Boolean).map((line) => element("p", {}, line)));
}

function scoreCard({ metric, test, best, averaged }) {
  const score = test || best;
  if (!metric || !score) return null;
  const where = score.split === "test" ? "test set, best weights" : `${score.split} set, best so far`;
  const lines = [`${where}, at ${score.bits} bits`, `step ${count(score.step)}`];
  if (test && best && best.split !== "test") lines.push(`${best.split} ${metricText(metric, best.value)}`);
  if (averaged) {
    lines.push(`averaged weights of ${count(averaged.points)} point${averaged.points === 1 ? "" : "s"}: ${metricText(metric, averaged.value)}`);
  }
  return card(words(metric.name), metricText(metric, score.value), ...lines);
}

function costCard(overview) {
  if (overview.gbitops === undefined) return null;
  const against = (percentage, whom) => percentage === undefined ? null
    : `${percent(Math.abs(percentage))} ${percentage < 0 ? "more" : "less"} than ${whom}`;
  return card("Cost", `${significant(overview.gbitops)} GBitOPs`, against(overview.saving_percent, "static"),
    against(overview.saving_float_percent, "float"), overview.counting && `counted by the rule “${overview.counting}”`,
    overview.cost_step && `up to step ${count(overview.cost_step)}, the last that was logged`);
}

function timeCard(overview) {
  if (overview.seconds === undefined) return null;
  const machine = overview.machine;
  return card("Training time", duration(overview.seconds), `${duration(overview.seconds_per_step)} a step`,
    machine && machine.processor,
    machine && [counted(machine.threads, "thread"), machine.isa].filter(Boolean).join(", "));
}

function progressCard(overview) {
  const { steps_done: done, steps_total: total, epoch } = overview;
  if (overview.state === "gone") return null;
  const shown = card("Progress", `${count(done)} of ${count(total)} steps`,
    epoch !== undefined && `epoch ${significant(epoch, 3)}`);
  shown.append(element("progress", { max: Math.max(1, total), value: done, "aria-label": "Steps done" }));
  return shown;
}

function facts(overview) {
  const pairs = [["Model", overview.model], ["Data", overview.dataset], ["Precision", overview.precision],
    ["Backend", overview.backend], ["Scheme", overview.scheme], ["Batch", overview.batch_size], ["Seed", overview.seed]];
  return element("dl", { class: "facts" }, ...pairs.filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))));
}

function glance(run) {
  return [element("div", { class: "title" }, element("h1", {}, run.name),
      element("span", { class: `pill ${run.overview.state}` }, run.overview.state)),
    element("h2", { class: "hidden-text" }, "At a glance"), notices(run), facts(run.overview),
    element("div", { class: "cards" }, ...[scoreCard(run.overview), costCard(run.overview),
      timeCard(run.overview), progressCard(run.overview)].filter(Boolean))].filter(Boolean);
}

// Training and evaluation curves of a metric.
function metricCurves(run, name) {
  const curves = [curveOf("training", run.training[name], { colour: 0 })];
  Object.entries(run.evaluations).forEach(([split, metrics], i) => {
    if (metrics[name]) curves.push(curveOf(split, metrics[name], { colour: i + 1, dots: true }));
  });
  return curves;
}

// Weights and activations as one curve, where they always have the same bits.
function bitCurves(bits) {
  if (!bits) return [];
  const together = JSON.stringify(bits.weight) === JSON.stringify(bits.activation);
  return [
    curveOf(together ? "weights and activations" : "weights", bits.weight, { colour: 0, step: true }),
    together ? null : curveOf("activations", bits.activation, { colour: 2, step: true }),
    curveOf("errors", bits.error, { colour: 1, step: true, dashed: true }),
  ];
}

function trainingFigures(run, link, metrics) {
  const chart = (title, curves, format, height, note) =>
    new LineChart({ title, curves: () => curves(run()), format, height, link, note });
  return [
    ...metrics.map((name) => chart(words(name), (r) => metricCurves(r, name), formatOf(name), 230)),
    chart("Learning rate", (r) => [curveOf("learning rate", r.learning_rate, { colour: 4, step: isPiecewise(r.learning_rate) })],
      (value) => significant(value, 3), 130),
    chart("Bits", (r) => bitCurves(r.precision.bits), bitsText, 170, () => gatesNote(run(), "blocks and samples")),
  ];
}

function gatesNote({ precision: { heat } }, over) {
  return heat && heat.means ? `Gates choose: means over ${over}; a skipped block counts as 0 bits.` : "";
}

function heatFigure(run, link) {
  let role = "weight";
  const heat = () => run().precision.heat;
  const figure = new HeatMap({
    wide: true, title: "Bits by layer and step", link, floats: true, text: bitsText, has: () => Boolean(heat()),
    note: () => gatesNote(run(), "the samples"),
    map: () => {
      const { layers, edges, roles: byRole } = heat(), { rows, row_of_layer: rowOf } = byRole[role];
      const known = rows.flat().filter((value) => value !== 32);
      return { names: layers, edges, low: Math.min(...known), high: Math.max(...known),
               hasFloat: rows.flat().includes(32), value: (row, column) => rows[rowOf[row]][column] };
    },
  });
  figure.controls.append(choice("Role", roles, role, (chosen) => { role = chosen; figure.refresh(); }));
  return figure;
}

// Float costs so much more that its line leaves the chart: the other two are to be compared.
function costFigure(run, link) {
  const last = (series) => series.y.filter((value) => value !== null).pop();
  const share = (of) => (of && last(of) ? percent((100 * last(run().cost.spent)) / last(of)) : null);
  return new LineChart({
    wide: true, title: "Cost so far", link, height: 230, format: (value) => significant(value, 3),
    most: () => run().cost && run().cost.static.y.length ? 1.25 * Math.max(last(run().cost.static), last(run().cost.spent)) : null,
    note: () => {
      const cost = run().cost;
      if (!cost || !cost.spent.x.length) return "";
      const parts = [`${significant(last(cost.spent))} spent`, share(cost.static) && `${share(cost.static)} of static`,
        share(cost.float) && `${share(cost.float)} of float, whose line leaves the chart`];
      return `Billions of bit operations: ${parts.filter(Boolean).join(", ")}.`;
    },
    curves: () => {
      const cost = run().cost || {};
      return [curveOf("spent", cost.spent, { colour: 0 }), curveOf("static", cost.static, { colour: 1, dashed: true }),
        curveOf("float", cost.float, { colour: 7, dashed: true })];
    },
  });
}

function timeFigures(run, link) {
  const byBits = () => (run().time ? run().time.by_bits : []);
  return [
    new Bars({
      title: "Time of a step by bits", head: ["Bits", "Time", "Milliseconds"], has: () => byBits().length > 0,
      rows: () => byBits().map((entry) => ({ label: [whole(entry.bits)], value: entry.seconds_per_step, colour: 6,
        text: `${duration(entry.seconds_per_step)} (${counted(entry.steps, "step")})` })),
      note: () => "Forward over backward bits; measured while training.",
    }),
    new LineChart({ title: "Time of a step over the run", link, height: 180, format: duration,
      curves: () => [curveOf("seconds a step", run().time && run().time.per_step, { colour: 6 })] }),
  ];
}

function layerFigures(run, link) {
  let role = "weight", layer = null;
  const layers = () => run().layers || {};
  const named = () => Object.keys(layers()).filter((name) => layers()[name][role]);
  const series = (name, what) => layers()[name] && layers()[name][role] && layers()[name][role][what];
  const chosen = () => (named().includes(layer) ? layer : named()[0]);
  const ranges = new LineChart({ title: "Range of a layer", link, height: 200, format: (value) => significant(value, 3),
    note: () => chosen() ? `${chosen()}, ${roles.find((r) => r.value === role).text}: lowest and highest value that has a code. Choose a layer in the map above.` : "",
    curves: () => chosen() ? [curveOf("highest", series(chosen(), "high"), { colour: 1 }),
                              curveOf("lowest", series(chosen(), "low"), { colour: 0 })] : [] });
  const errors = new HeatMap({
    title: "Quantization error by layer", link, has: () => Object.keys(layers()).length > 0,
    text: (value) => (value === null ? "–" : `${significant(value, 3)} dB`),
    note: () => "Signal over quantization noise: more decibels, less error. A click shows a layer's range below.",
    pick: (name) => { layer = name; ranges.refresh(); },
    map: () => {
      const names = named(), curves = names.map((name) => series(name, "sqnr_db") || { x: [], y: [] });
      const steps = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
      const known = curves.flatMap((curve) => curve.y).filter((value) => value !== null);
      return { names, edges: [0, ...steps], low: Math.min(...known), high: Math.max(...known),
        value: (row, column) => {
          const index = lastNotAbove(curves[row].x, steps[column]);
          return index < 0 ? null : curves[row].y[index];
        } };
    },
  });
  errors.controls.append(choice("Role", roles, role, (other) => { role = other; errors.refresh(); ranges.refresh(); }));
  return [errors, ranges];
}

function widthOrder(names) {
  const rank = (name) => (Number.isFinite(Number(name)) && Number(name) > 0 ? Number(name) : name === "fp" ? 100 : 90);
  return [...new Set(names)].sort((a, b) => rank(a) - rank(b));
}

// The evaluations of a run at each width; of several with the same, the last.
function widthPoints(run) {
  const metric = run.overview.metric, points = new Map();
  for (const entry of run.widths) {
    const value = metric && entry.metrics[metric.name];
    if (typeof value === "number") {
      points.set(String(entry.bits), { at: String(entry.bits), y: value,
        hint: `${entry.bits}, ${entry.split}, ${entry.checkpoint} weights: ${metricText(metric, value)}` });
    }
  }
  return widthOrder([...points.keys()]).map((name) => points.get(name));
}

const metricName = (run) => (run.overview.metric ? run.overview.metric.name : null);

// Scores of different metrics have no axis in common: a figure for each.
function widthFigures(runs, colour = () => 0) {
  const names = [...new Set(runs().map(metricName).filter(Boolean))];
  return names.map((name) => widthFigure(runs, colour, name, names.length > 1 ? words(name) : "Score"));
}

function widthFigure(runs, colour, name, score) {
  const lines = () => runs().map((run, i) => ({ label: run.name, colour: colour(i),
    points: metricName(run) === name ? widthPoints(run) : [] })).filter((line) => line.points.length > 0);
  const metric = () => runs().find((run) => metricName(run) === name).overview.metric;
  const figure = new WidthPlot({ title: `${score} at each evaluation width`, lines, has: () => lines().length > 0,
    names: () => widthOrder(lines().flatMap((line) => line.points.map((point) => point.at))),
    format: (value) => metricText(metric(), value), note: () => "Stored by bitcycle eval." });
  figure.addValues(() => table(["Run", ...figure.options.names()], lines().map((line) => [line.label,
    ...figure.options.names().map((name) => {
      const point = line.points.find((other) => other.at === name);
      return point ? metricText(metric(), point.y) : "";
    })])));
  return figure;
}

// What is known of the steps between two logged ones.
function shareNote({ logged }) {
  if (!logged) return "Forward over backward bits, of the steps done.";
  return "Forward over backward bits of the logged steps; each counts for those since the one before.";
}

function scheduleFigures(run, link) {
  const shares = () => run().precision.shares || [];
  return [
    new LineChart({ title: "The schedule, to the end of the run", link, height: 170, format: bitsText,
      note: () => {
        const { steps_done: done, steps_total: total } = run().overview;
        return done < total ? `${count(done)} of ${count(total)} steps are done.` : "";
      },
      curves: () => bitCurves(run().precision.schedule) }),
    new Bars({ title: "Share of the steps at each precision", head: ["Bits", "Share", "Percent"],
      has: () => shares().length > 0, note: () => shareNote(run().precision),
      rows: () => shares().map((entry) => ({ label: [whole(entry.bits)], value: entry.share, colour: 0, text: percent(100 * entry.share) })) }),
  ];
}

// Shares of the samples, over all steps since the logged one before. Dearer options lie above.
function choicesOverSteps(run, link) {
  return new LineChart({
    wide: true, title: "What the gates chose", link, height: 230, stacked: true, most: () => 1,
    format: (share) => percent(100 * share),
    note: () => "Share of the samples that had each option (activation and error bits), mean over the blocks.",
    curves: () => {
      const { options, curves } = run().precision.choices || { options: [], curves: [] };
      return options.map((option, i) => curveOf(option, curves[i], { colour: i })).reverse();
    },
  });
}

function choicesByBlock(run) {
  const choices = () => run().precision.choices;
  return new StackedBars({
    wide: true, title: "What the gates chose, by block", has: () => Boolean(choices()), head: "Block",
    parts: () => choices().options, text: (share) => percent(100 * share),
    note: () => choices() ? `Steps ${count(choices().blocks.from)} to ${count(choices().blocks.to)}: the last that are logged.` : "",
    rows: () => choices().blocks.names.map((label, i) => ({ label, shares: choices().blocks.shares[i] })),
  });
}

function stagesTable(run) {
  if (run.precision.stages.length === 0) return null;
  return element("figure", { class: "card chart" }, element("figcaption", {}, element("h3", {}, "Stages")),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stages" },
      table(["From step", "Before", "After", "Why"], run.precision.stages.map((stage) =>
        [count(stage.step), stage.from, stage.to, stage.reason]))));
}

function recipeText(run) {
  return element("details", { class: "card recipe" }, element("summary", {}, "Recipe"),
    element("pre", { tabindex: "0" }, run.recipe));
}

// An element that is made anew from the run, whenever there is news of it.
function part(make) {
  const place = element("div", { class: "part" });
  let open = false;
  return { element: place, draw() {}, refresh() {
    const details = place.querySelector("details");
    if (details) open = details.open;
    const made = make();
    place.replaceChildren(...(Array.isArray(made) ? made : [made]).filter(Boolean));
    const again = place.querySelector("details");
    if (again) again.open = open;
  } };
}

function metricNames(runs) {
  const names = new Set(), primary = runs.map((run) => run.overview.metric).find(Boolean);
  for (const run of runs) {
    Object.keys(run.training).forEach((name) => names.add(name));
    Object.values(run.evaluations).forEach((metrics) => Object.keys(metrics).forEach((name) => names.add(name)));
  }
  const rank = (name) => (name === "loss" ? 0 : primary && name === primary.name ? 1 : 2);
  return [...names].sort((a, b) => rank(a) - rank(b));
}

// A part of the page with a heading, which is there while any of its figures has something to show.
function section(title, lead, figures, style = "") {
  const made = element("section", { class: style }, title ? heading(title, lead) : null,
    ...figures.map((figure) => figure.element));
  return { element: made, figures };
}

// `run` gives the run to show. Returns the sections, top to bottom.
function runPage(run, link) {
  return [
    section("Training", "Drag to zoom, double-click for the whole run; all charts over steps move together.",
      trainingFigures(run, link, metricNames([run()])), "stack"),
    section("Precision", "", [heatFigure(run, link), choicesOverSteps(run, link), choicesByBlock(run), ...scheduleFigures(run, link),
      part(() => stagesTable(run()))], "grid"),
    section("Cost and time", "", [costFigure(run, link), ...timeFigures(run, link)], "grid"),
    section("Layers", "", layerFigures(run, link)),
    section("Evaluation", "", [...widthFigures(() => [run()]), ...landscapeFigures(() => [run()])]),
    section("", "", [part(() => recipeText(run()))]),
  ];
}
