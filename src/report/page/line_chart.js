// Curves over steps, drawn by dygraphs. Charts with the same link show the same steps and point at
// the same one: zooming or pointing in one does so in all.
//
// A curve is {label, entry, x, y, of (how many points were logged, where some are left out), colour (index
// of the palette), step, dots, dashed}. Curves with the same entry share one in the legend, which shows their mean. A figure is {element, refresh(),
// draw()}: it is drawn when it comes into view, and refreshed when there is other data or another
// theme.

class Link {
  constructor() { this.charts = []; this.range = null; this.listeners = []; this.at = null; this.hidden = new Set(); }
  zoom(range, from) {
    if (String(range) === String(this.range)) return;
    this.range = range;
    for (const chart of this.charts) if (chart !== from) chart.show(range);
    for (const listener of this.listeners) listener();
    document.getElementById("reset-zoom").disabled = range === null;
  }
  point(at) {
    this.at = at;
    for (const chart of this.charts) chart.point(at);
  }
}

function valueAt(curve, at) {
  const index = lastNotAbove(curve.x, at);
  if (curve.step) return index < 0 ? null : curve.y[index];
  const next = index + 1;
  if (index < 0) return curve.x.length ? curve.y[0] : null;
  const nearer = next < curve.x.length && curve.x[next] - at < at - curve.x[index] ? next : index;
  return curve.y[nearer];
}

class LineChart {
  // options: title, format, height, link, wide; stacked: curves lie on each other, the last one lowest;
  // shared: hiding an entry hides it in all that share;
  // and functions: curves, note, logarithmic, most (the upper end of the axis)
  constructor(options) {
    this.options = options;
    this.hidden = options.shared ? options.link.hidden : new Set();
    this.legend = element("ul", { class: "legend", "aria-label": `Curves of ${options.title}` });
    this.plot = element("div", { class: "plot", style: { height: `${options.height || 240}px` },
                                 tabindex: "0", role: "slider", "aria-valuemin": "0" });
    this.hair = element("div", { class: "hair", hidden: true });
    this.readout = element("span", { class: "readout" });
    this.values = valuesTable(options.title, () => this.table());
    this.note = element("p", { class: "note" });
    this.element = element("figure", { class: `card chart${options.wide ? " wide" : ""}` },
      element("figcaption", {}, element("h3", {}, options.title), this.readout),
      this.legend, element("div", { class: "plot-frame" }, this.plot, this.hair), this.note,
      this.values.element);
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => this.options.link.point(null));
    options.link.charts.push(this);
    new ResizeObserver(() => this.fit()).observe(this.plot);
  }

  fit() {
    if (this.graph && this.plot.clientWidth > 0) this.graph.resize();
  }

  // Chromium prints what was drawn last on a canvas, which of dygraphs' is only a part: so a copy,
  // drawn at once, stands in for it.
  print(on) {
    if (this.copy) this.copy.remove();
    this.copy = null;
    const drawn = this.plot.querySelector("canvas");
    if (!on || !this.graph || !drawn) return;
    this.copy = element("canvas", { class: "print-copy", width: drawn.width, height: drawn.height,
                                    style: { width: drawn.style.width, height: drawn.style.height } });
    this.copy.getContext("2d").drawImage(drawn, 0, 0);
    this.plot.append(this.copy);
  }

  refresh() {
    this.curves = this.options.curves().filter((curve) => curve && curve.x.length > 0);
    this.element.hidden = this.curves.length === 0;
    this.entries = [...new Set(this.curves.map((curve) => curve.entry))];
    const note = this.options.note ? this.options.note() : "";
    this.note.textContent = note;
    this.note.hidden = !note;
    this.makeLegend();
    this.values.refresh();
    if (this.graph && this.curves.length > 0) this.update();
  }

  makeLegend() {
    this.cells = [];
    this.legend.replaceChildren(...this.entries.map((entry) => {
      const curve = this.curves.find((other) => other.entry === entry), value = element("span", { class: "value" });
      this.cells.push(value);
      return element("li", {}, element("button", {
        type: "button", "aria-pressed": String(!this.hidden.has(entry)),
        title: "Show or hide; with Shift, show this alone", onclick: (event) => this.toggle(entry, event.shiftKey) },
        element("span", { class: `swatch${curve.dashed ? " dashed" : ""}`, style: { color: seriesColour(curve.colour) } }),
        entry, value));
    }));
    this.legend.classList.toggle("many", this.entries.length > 8);
  }

  toggle(entry, alone) {
    if (alone) {
      this.hidden.clear();
      for (const other of this.entries) if (other !== entry) this.hidden.add(other);
    } else if (!this.hidden.delete(entry)) {
      this.hidden.add(entry);
    }
    for (const chart of this.options.link.charts) if (chart.hidden === this.hidden) chart.showVisible();
  }

  showVisible() {
    if (!this.entries) return;
    this.entries.forEach((entry, i) => {
      this.legend.children[i].firstChild.setAttribute("aria-pressed", String(!this.hidden.has(entry)));
    });
    if (this.graph) this.quiet(() => this.graph.updateOptions({ visibility: this.visibility() }));
  }

  // The mean of an entry's curves.
  entryAt(entry, at) {
    const values = this.curves.filter((curve) => curve.entry === entry).map((curve) => valueAt(curve, at))
      .filter((value) => value !== null);
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  visibility() { return this.curves.map((curve) => !this.hidden.has(curve.entry)); }

  // dygraphs wants one table for all curves.
  rows() {
    const rows = new Map();
    this.curves.forEach((curve, column) => curve.x.forEach((x, i) => {
      if (!rows.has(x)) rows.set(x, [x, ...this.curves.map(() => null)]);
      rows.get(x)[column + 1] = curve.y[i];
    }));
    return [...rows.values()].sort((a, b) => a[0] - b[0]);
  }

  // The steps that all linked charts show when nobody has zoomed.
  extent() {
    let low = Infinity, high = -Infinity;
    for (const chart of this.options.link.charts) {
      for (const curve of chart.curves || []) {
        low = Math.min(low, curve.x[0]);
        high = Math.max(high, curve.x[curve.x.length - 1]);
      }
    }
    if (low === high) high = low + 1;
    return [Math.min(low, 0), high];
  }

  // With room for the dot at the last step.
  whole() {
    const [low, high] = this.extent();
    return [low, high + 0.01 * (high - low)];
  }

  settings() {
    const perCurve = {};
    for (const curve of this.curves) {
      const alone = curve.y.filter((value) => value !== null).length === 1;  // no line leads to it
      perCurve[curve.label] = {
        stepPlot: Boolean(curve.step), drawPoints: Boolean(curve.dots) || alone, pointSize: alone ? 5 : 2.5,
        strokePattern: curve.dashed ? [6, 4] : null, strokeWidth: curve.step ? 2 : 1.6,
      };
    }
    const format = this.options.format;
    return {
      file: this.rows(), labels: ["step", ...this.curves.map((curve) => curve.label)],
      colors: this.curves.map((curve) => seriesColour(curve.colour)), series: perCurve,
      stackedGraph: Boolean(this.options.stacked), fillAlpha: 0.75,
      visibility: this.visibility(), logscale: Boolean(this.options.logarithmic && this.options.logarithmic()),
      gridLineColor: cssColour("--line"), axisLineColor: cssColour("--line"),
      dateWindow: this.options.link.range || this.whole(),
      valueRange: this.options.most && this.options.most() ? [0, this.options.most()] : null,
      axes: {
        x: { drawGrid: true, axisLabelFormatter: (x) => (Number.isInteger(x) ? count(x) : ""),
             pixelsPerLabel: 72 },
        y: { axisLabelWidth: 58, axisLabelFormatter: (y) => format(y), pixelsPerLabel: 30 },
      },
    };
  }

  draw() {
    if (this.graph || this.element.hidden || this.plot.clientWidth === 0) return;
    const { file, ...settings } = this.settings();
    const model = Dygraph.defaultInteractionModel;
    const withTwoFingers = (name) => (event, graph, context) => {
      if (event.touches.length > 1 || context.isZooming) model[name](event, graph, context);
    };
    this.graph = new Dygraph(this.plot, file, {
      ...settings, legend: "never", connectSeparatedPoints: true, highlightCircleSize: 3.5,
      xRangePad: 4, yRangePad: 8, includeZero: false, animatedZooms: false, labelsKMB: false,
      highlightCallback: (event, x) => this.options.link.point(x),
      unhighlightCallback: () => this.options.link.point(null),
      drawCallback: (graph, first) => { if (!first) this.drawn(); },
      zoomCallback: () => { if (!this.graph.isZoomed("x")) this.options.link.zoom(null); },
      interactionModel: { ...model, touchstart: withTwoFingers("touchstart"),
                          touchmove: withTwoFingers("touchmove"), touchend: withTwoFingers("touchend"),
                          dblclick: () => this.options.link.zoom(null) },
    });
    this.describe();
  }

  update() {
    this.quiet(() => this.graph.updateOptions(this.settings()));
    this.describe();
  }

  // What the program does must not come back as what the user did.
  quiet(action) { this.busy = true; action(); this.busy = false; }

  drawn() {
    if (this.busy) return;
    const range = this.graph.xAxisRange(), whole = this.whole();
    const zoomed = Math.abs(range[0] - whole[0]) + Math.abs(range[1] - whole[1]) > 1e-6 * (whole[1] - whole[0]);
    this.options.link.zoom(zoomed ? range : null, this);
  }

  show(range) {
    if (this.graph) this.quiet(() => this.graph.updateOptions({ dateWindow: range || this.whole() }));
  }

  point(at) {
    if (!this.curves) return;
    this.readout.textContent = at === null ? "" : `step ${count(at)}`;
    this.entries.forEach((entry, i) => {
      this.cells[i].textContent = at === null ? "" : this.options.format(this.entryAt(entry, at));
    });
    if (!this.graph) return;
    this.hair.hidden = at === null;
    if (at !== null) this.hair.style.left = `${this.graph.toDomXCoord(at)}px`;
  }

  spoken(at) {
    return `Step ${count(at)}: ` + this.entries.filter((entry) => !this.hidden.has(entry))
      .map((entry) => `${entry} ${this.options.format(this.entryAt(entry, at))}`).join(", ");
  }

  describe() {
    const [low, high] = this.extent();
    const at = this.options.link.at ?? high;
    this.plot.setAttribute("aria-label",
      `${this.options.title} over steps. Arrow keys move, plus and minus zoom, Escape shows the whole run.`);
    this.plot.setAttribute("aria-valuemax", high);
    this.plot.setAttribute("aria-valuemin", low);
    this.plot.setAttribute("aria-valuenow", at);
    this.plot.setAttribute("aria-valuetext", this.spoken(at));
  }

  key(event) {
    if (!this.graph) return;
    const link = this.options.link, [low, high] = this.graph.xAxisRange();
    const at = link.at === null ? high : link.at, stride = (high - low) / 50;
    const zoomBy = (factor) => {
      const range = [at - (at - low) * factor, at + (high - at) * factor], whole = this.whole();
      const wide = range[0] <= whole[0] && range[1] >= whole[1];
      link.zoom(wide ? null : [Math.max(range[0], whole[0]), Math.min(range[1], whole[1])]);
    };
    const actions = {
      ArrowLeft: () => link.point(this.nearest(at, -stride)), ArrowRight: () => link.point(this.nearest(at, stride)),
      Home: () => link.point(this.nearest(low, 0)), End: () => link.point(this.nearest(high, 0)),
      "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), Escape: () => link.zoom(null),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
    this.describe();
  }

  // The nearest step with a point, at least one further on.
  nearest(at, stride) {
    const steps = [...new Set(this.curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
    const index = lastNotAbove(steps, at);
    if (stride === 0) return steps[Math.max(0, index)];
    const target = lastNotAbove(steps, at + stride);
    const moved = stride > 0 ? Math.max(target, index + 1)
                             : Math.min(target, steps[index] < at ? index : index - 1);
    return steps[Math.min(steps.length - 1, Math.max(0, moved))];
  }

  table() {
    const steps = shownSteps(this.curves), shown = this.rows().filter(([x]) => steps.has(x));
    return valuesWithNote(leftOut(this.curves, steps), table(["Step", ...this.curves.map((curve) => curve.label)],
      shown.map(([x, ...values]) => [count(x), ...values.map((value) => value === null ? "" : this.options.format(value))])));
  }
}
