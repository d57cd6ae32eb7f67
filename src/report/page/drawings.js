// Charts that are not curves over steps: bars as tables, heat maps on a canvas, points and boxes as
// SVG. Each is a figure {element, refresh(), draw()} like a line chart.

// A card with a title, and a body that is made anew when its data or its width changes.
class Drawing {
  // options: title, note (a function), has (a function: whether there is anything to show)
  constructor(options) {
    this.options = options;
    this.body = element("div", { class: "drawing" });
    this.note = element("p", { class: "note" });
    this.controls = element("div", { class: "controls" });
    this.readout = element("span", { class: "readout" });
    this.element = element("figure", { class: `card chart${options.wide ? " wide" : ""}` },
      element("figcaption", {}, element("h3", {}, options.title), this.readout, this.controls),
      this.body, this.note);
    this.width = 0;
    new ResizeObserver(() => this.fit()).observe(this.body);
  }
  fit() {
    const width = this.body.clientWidth;
    if (this.drawn && width > 0 && width !== this.width) this.paint();
  }
  refresh() {
    this.element.hidden = !this.options.has();
    const note = this.options.note ? this.options.note() : "";
    this.note.textContent = note;
    this.note.hidden = !note;
    if (this.element.hidden) return;
    if (this.values) this.values.refresh();
    if (this.drawn) this.paint();
  }
  draw() {
    if (this.drawn || this.element.hidden || this.body.clientWidth === 0) return;
    this.drawn = true;
    this.paint();
  }
  paint() { this.width = this.body.clientWidth; this.make(); }
  addValues(make) {
    this.values = valuesTable(this.options.title, make);
    this.element.append(this.values.element);
  }
}

// What must not be broken over lines, such as bits: "4w 3a/6".
function whole(content) { return element("span", { class: "whole" }, content); }

// Rows of {label (parts: texts and elements), value, text, colour}: a table whose second column has bars.
class Bars extends Drawing {
  make() {
    const rows = this.options.rows(), most = Math.max(...rows.map((row) => row.value), 1e-300);
    const bar = (row) => element("td", {},
      element("div", { class: "bar", style: { width: `${(100 * row.value) / most}%`,
                                              background: row.fill || seriesColour(row.colour || 0) } }));
    this.body.replaceChildren(element("div", { class: "bars-frame" }, element("table", { class: "bars" },
      element("thead", { class: "hidden-text" }, element("tr", {},
        ...this.options.head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {},
        element("th", { scope: "row" }, element("div", { class: "name" }, ...row.label)), bar(row),
        element("td", { class: "number" }, row.text)))))));
  }
}

// Rows of {label, shares}: a table whose second column has bars of coloured parts, with their numbers behind it.
class StackedBars extends Drawing {
  make() {
    const parts = this.options.parts();
    const head = (text, colour) => element("th", { scope: "col" },
      colour === undefined ? null : element("i", { class: "key", style: { background: seriesColour(colour) } }), text);
    const bar = (shares) => element("td", {}, element("div", { class: "stacked-bar", "aria-hidden": "true" },
      ...shares.map((share, i) => element("i", { style: { width: `${100 * share}%`, background: seriesColour(i) } }))));
    this.body.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": this.options.title },
      element("table", { class: "stacked" },
        element("thead", {}, element("tr", {}, head(this.options.head), head("Shares"), ...parts.map(head))),
        element("tbody", {}, ...this.options.rows().map(({ label, shares }) => element("tr", {},
          element("th", { scope: "row" }, label), bar(shares),
          ...shares.map((share) => element("td", { class: "number" }, this.options.text(share)))))))));
  }
}

// Rows by layer, columns by stretches of steps.
// options: map() gives {names, edges, value(row, column), low, high}; text(value); link; pick(name)
class HeatMap extends Drawing {
  constructor(options) {
    super(options);
    this.cursor = null;
    this.canvas = element("canvas", { tabindex: "0", role: "slider", "aria-valuemin": "0" });
    this.scale = element("div", { class: "scale", "aria-hidden": "true" });
    this.body.append(this.canvas, this.scale);
    this.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.canvas.addEventListener("mouseleave", () => this.place(null));
    this.canvas.addEventListener("click", () => this.cursor && options.pick && options.pick(this.map.names[this.cursor.row]));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    options.link.listeners.push(() => this.drawn && this.paint());
    this.addValues(() => this.table());
  }

  range() { return this.options.link.range || [0, this.map.edges[this.map.edges.length - 1]]; }

  layout() {
    const names = this.map.names, longest = Math.max(...names.map((name) => name.length));
    this.left = Math.min(this.width * 0.32, 14 + 6.6 * longest);
    this.rowHeight = Math.max(5, Math.min(20, 440 / names.length));
    this.height = Math.ceil(this.rowHeight * names.length) + 22;
    this.plotWidth = this.width - this.left - 6;
  }

  make() {
    this.map = this.options.map();
    this.layout();
    const ratio = window.devicePixelRatio || 1, canvas = this.canvas;
    canvas.width = this.width * ratio;
    canvas.height = this.height * ratio;
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${this.height}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.paintCells(context);
    this.paintLabels(context);
    this.paintScale();
    this.place(this.cursor && this.cursor.row < this.map.names.length ? this.cursor : null);
  }

  x(step) {
    const [low, high] = this.range();
    return this.left + ((step - low) / (high - low)) * this.plotWidth;
  }

  colour(value) {
    if (value === null) return cssColour("--empty");
    if (value === 32 && this.options.floats) return cssColour("--float");
    const { low, high } = this.map;
    return scaleColour(high > low ? (value - low) / (high - low) : 0.5);
  }

  paintCells(context) {
    const { names, edges } = this.map, gap = this.rowHeight > 8 ? 1 : 0, right = this.left + this.plotWidth;
    for (let row = 0; row < names.length; ++row) {
      let column = 0;
      while (column + 1 < edges.length) {
        const value = this.map.value(row, column);
        let end = column + 1;
        while (end + 1 < edges.length && this.map.value(row, end) === value) ++end;
        const from = Math.max(this.left, this.x(edges[column])), to = Math.min(right, this.x(edges[end]));
        column = end;
        if (to <= from) continue;
        context.fillStyle = this.colour(value);
        context.fillRect(from, row * this.rowHeight, to - from + 0.3, this.rowHeight - gap);
      }
    }
  }

  paintLabels(context) {
    context.fillStyle = cssColour("--muted");
    context.font = `${Math.min(11.5, Math.max(9, this.rowHeight - 2))}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.ceil(11 / this.rowHeight), names = this.map.names;
    for (let row = 0; row < names.length; row += every) {
      context.fillText(shortened(context, names[row], this.left - 10), this.left - 7, (row + 0.5) * this.rowHeight);
    }
    context.textAlign = "center";
    context.font = "11px system-ui, sans-serif";
    for (const tick of niceTicks(...this.range(), this.plotWidth / 110)) {
      const text = count(tick), half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(this.x(tick), this.left + this.plotWidth - half), this.height - 8);
    }
  }

  paintScale() {
    const { low, high } = this.map, steps = Math.min(9, Math.max(2, Math.round(high - low) + 1));
    const swatch = (colour, text) => element("span", {}, element("i", { style: { background: colour } }), text);
    const parts = [];
    if (high > low) {
      for (let i = 0; i < steps; ++i) {
        const value = low + ((high - low) * i) / (steps - 1);
        parts.push(swatch(this.colour(value), this.options.text(value)));
      }
    } else if (Number.isFinite(low)) {
      parts.push(swatch(this.colour(low), this.options.text(low)));
    }
    if (this.map.hasFloat) parts.push(swatch(cssColour("--float"), "float"));
    this.scale.replaceChildren(...parts);
  }

  hover(event) {
    const [low, high] = this.range();
    const step = low + ((event.offsetX - this.left) / this.plotWidth) * (high - low);
    const row = Math.floor(event.offsetY / this.rowHeight);
    const column = lastNotAbove(this.map.edges, step);
    const inside = row >= 0 && row < this.map.names.length && column >= 0 && column + 1 < this.map.edges.length;
    this.place(inside ? { row, column } : null);
  }

  place(cursor) {
    this.cursor = cursor;
    this.readout.textContent = cursor ? this.spoken(cursor) : "";
    const edges = this.map.edges;
    this.canvas.setAttribute("aria-label", `${this.options.title}. Arrow keys move between layers and steps.`);
    this.canvas.setAttribute("aria-valuemax", edges[edges.length - 1]);
    this.canvas.setAttribute("aria-valuenow", cursor ? edges[cursor.column] : 0);
    this.canvas.setAttribute("aria-valuetext",
      cursor ? this.spoken(cursor) : `${this.map.names.length} layers, ${count(edges[edges.length - 1])} steps`);
  }

  spoken({ row, column }) {
    const { names, edges } = this.map;
    return `${names[row]}, steps ${count(edges[column] + 1)}–${count(edges[column + 1])}: ` +
      this.options.text(this.map.value(row, column));
  }

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "Enter" && this.cursor && this.options.pick) this.options.pick(this.map.names[this.cursor.row]);
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const from = this.cursor || { row: 0, column: -move[1] };
    const within = (value, most) => Math.min(most, Math.max(0, value));
    this.place({ row: within(from.row + move[0], this.map.names.length - 1),
                 column: within(from.column + move[1], this.map.edges.length - 2) });
  }

  table() {
    const map = this.map || this.options.map(), columns = map.edges.length - 1, shown = spreadOver(columns, 12);
    const note = shown.length === columns ? "" : `Some columns are left out: the table has ${shown.length} of ` +
      `${count(columns)} stretches of steps, the first and the last among them.`;
    return valuesWithNote(note, table(["Layer", ...shown.map((column) => `step ${count(map.edges[column] + 1)}`)],
      map.names.map((name, row) => [name, ...shown.map((column) => this.options.text(map.value(row, column)))])));
  }
}

function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let kept = text.length;
  while (kept > 1 && context.measureText(`…${text.slice(-kept)}`).width > width) --kept;
  return `…${text.slice(-kept)}`;
}

// In pixels, of labels in SVG pictures.
function labelWidth(content) {
  const context = labelWidth.context ??= document.createElement("canvas").getContext("2d");
  context.font = `12.5px ${getComputedStyle(document.documentElement).fontFamily}`;
  return context.measureText(content).width;
}

// Names of groups differ at their beginnings or at their ends, so that both are kept.
function elided(content, width) {
  let kept = content.length, made = content;
  while (kept > 2 && labelWidth(made) > width) {
    --kept;
    made = `${content.slice(0, Math.ceil(kept / 2))}…${content.slice(content.length - Math.floor(kept / 2))}`;
  }
  return made;
}

// Axes of an SVG picture; x and y give pixels.
function axes(width, height, xAxis, yAxis) {
  const left = 62, right = 16, top = 10, bottom = 40;
  const place = (axis, share) => axis.logarithmic
    ? Math.log(share / axis.low) / Math.log(axis.high / axis.low)
    : (share - axis.low) / (axis.high - axis.low);
  const x = (value) => left + place(xAxis, value) * (width - left - right);
  const y = (value) => height - bottom - place(yAxis, value) * (height - top - bottom);
  const group = svg("g", { class: "axes" });
  for (const tick of yAxis.ticks) {
    group.append(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      text(left - 8, y(tick) + 4, yAxis.text(tick), "end"));
  }
  for (const tick of xAxis.ticks) {
    if (xAxis.lines) group.append(svg("line", { x1: x(tick), x2: x(tick), y1: top, y2: height - bottom }));
    const label = xAxis.text(tick), half = label.length * 3.8;
    group.append(text(Math.min(x(tick), width - half), height - bottom + 17, label, "middle"));
  }
  group.append(text((left + width - right) / 2, height - 5, xAxis.title, "middle", "axis-title"));
  return { group, x, y, left, right: width - right, top, bottom: height - bottom };
}

function text(x, y, content, anchor, style) {
  const made = svg("text", { x, y, "text-anchor": anchor, class: style || null });
  made.textContent = content;
  return made;
}

function linearAxis(values, about, format) {
  let low = Math.min(...values), high = Math.max(...values);
  const pad = (high - low || Math.abs(high) || 1) * 0.08;
  low -= pad;
  high += pad;
  return { low, high, ticks: niceTicks(low, high, about), text: format };
}

function logarithmicAxis(values, format) {
  const low = Math.min(...values) / 1.4, high = Math.max(...values) * 1.4, ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    for (const factor of [1, 2, 5]) ticks.push(factor * 10 ** power);
  }
  return { low, high, logarithmic: true, text: format, ticks: ticks.filter((tick) => tick >= low && tick <= high) };
}

class SvgDrawing extends Drawing {
  frame(height) {
    return svg("svg", { viewBox: `0 0 ${this.width} ${height}`, width: this.width, height, role: "img",
                        "aria-label": this.options.title });
  }
}

// Spread over seeds: options.boxes() gives {label, box: [least, lower, median, upper, most], values, colour}.
class BoxPlot extends SvgDrawing {
  make() {
    const boxes = this.options.boxes(), row = 46, height = boxes.length * row + 56;
    const frame = this.frame(height), left = Math.min(this.width * 0.34, 190);
    const axis = linearAxis(boxes.flatMap((box) => box.values), this.width / 130, this.options.format);
    const x = (value) => left + ((value - axis.low) / (axis.high - axis.low)) * (this.width - left - 20);
    const grid = svg("g", { class: "axes" });
    for (const tick of axis.ticks) {
      grid.append(svg("line", { x1: x(tick), x2: x(tick), y1: 4, y2: height - 48 }),
        text(x(tick), height - 30, axis.text(tick), "middle"));
    }
    grid.append(text((left + this.width) / 2, height - 8, this.options.xTitle, "middle", "axis-title"));
    frame.append(grid, ...boxes.map((box, i) => this.box(box, 4 + i * row + row / 2, x, left)));
    this.body.replaceChildren(frame);
  }

  box({ label, box, values, colour, hint }, y, x, left) {
    const tint = seriesColour(colour), [least, lower, median, upper, most] = box;
    const group = svg("g", { stroke: tint, fill: tint });
    const title = svg("title");
    title.textContent = hint;
    const name = text(left - 10, y + 4, elided(label, left - 14), "end", "box-label");
    group.append(title, name,
      svg("line", { x1: x(least), x2: x(most), y1: y, y2: y, "stroke-width": 1.5 }),
      svg("rect", { x: x(lower), y: y - 11, width: Math.max(1, x(upper) - x(lower)), height: 22, rx: 3,
                    "fill-opacity": 0.22, "stroke-width": 1.5 }),
      svg("line", { x1: x(median), x2: x(median), y1: y - 11, y2: y + 11, "stroke-width": 3 }));
    values.forEach((value, i) => group.append(
      svg("circle", { cx: x(value), cy: y + (((i * 7) % 5) - 2) * 3, r: 2.6, stroke: "none" })));
    return group;
  }
}

// Values by named width, joined by lines: options.lines() gives {label, colour, points: [{at, y, hint}]}.
class WidthPlot extends SvgDrawing {
  make() {
    const lines = this.options.lines(), names = this.options.names(), height = 280;
    const values = lines.flatMap((line) => line.points.map((point) => point.y));
    const yAxis = linearAxis(values, 6, this.options.format);
    const xAxis = { low: -0.4, high: names.length - 0.6, ticks: [...names.keys()], text: (i) => names[i],
                    title: "bits at evaluation", lines: true };
    const frame = this.frame(height), place = axes(this.width, height, xAxis, yAxis);
    frame.append(place.group);
    for (const line of lines) {
      const at = (point) => [place.x(names.indexOf(point.at)), place.y(point.y)];
      const tint = seriesColour(line.colour), group = svg("g", { stroke: tint, fill: tint });
      group.append(svg("polyline", { points: line.points.map((p) => at(p).join()).join(" "), fill: "none",
                                     "stroke-width": 1.8 }));
      for (const point of line.points) {
        const title = svg("title");
        title.textContent = `${line.label}, ${point.hint}`;
        group.append(svg("circle", { cx: at(point)[0], cy: at(point)[1], r: 4.5 }, title));
        if (lines.length === 1) {
          group.append(text(at(point)[0], at(point)[1] - 10, this.options.format(point.y), "middle", "point-label"));
        }
      }
      frame.append(group);
    }
    this.body.replaceChildren(frame);
  }
}
