// Loss landscapes: contours of one or several runs side by side, on the same axes and with a colour
// for each level.

class LandscapePlot extends Drawing {
  constructor(options) {
    super(options);
    this.addValues(() => table(["Run", "Step", "Loss at the centre", "Least loss", `Area of loss < centre + ${this.shown()[0].view.rise}`],
      this.shown().map(({ run, view }) => [run, count(view.step), significant(view.centre), significant(view.least),
        `${view.reaches_edge ? "over " : ""}${significant(view.area)}`])));
  }

  shown() { return this.options.panels(); }

  make() {
    const panels = this.shown(), gap = 18;
    const columns = Math.max(1, Math.min(panels.length, Math.floor((this.width + gap) / 300)));
    const side = Math.min(460, (this.width - (columns - 1) * gap) / columns);
    const levels = [...new Set(panels.flatMap(({ view }) => view.contours.map((contour) => contour.level)))].sort((a, b) => a - b);
    const colour = (level) => scaleColour(0.4 + (0.6 * levels.indexOf(level)) / Math.max(1, levels.length - 1));
    this.body.replaceChildren(element("div", { class: "panels", style: { gap: `${gap}px` } },
      ...panels.map((panel) => this.panel(panel, side, colour))));
  }

  panel({ run, view }, side, colour) {
    const left = 38, bottom = 36, top = 24, plot = side - left - 8, height = top + plot + bottom;
    const x = (value) => left + (plot * (value + view.range)) / (2 * view.range);
    const y = (value) => top + plot - (plot * (value + view.range)) / (2 * view.range);
    const area = `${view.reaches_edge ? "over " : ""}${significant(view.area, 3)}`;
    const frame = svg("svg", { viewBox: `0 0 ${side} ${height}`, width: side, height, role: "img", class: "landscape",
      "aria-label": `${run}: loss ${significant(view.centre)} at the centre, area ${area} below ${view.rise} more` });
    const axes = svg("g", { class: "axes" });
    for (const share of [-1, -0.5, 0, 0.5, 1]) {
      const value = share * view.range;
      axes.append(svg("line", { x1: x(value), x2: x(value), y1: top, y2: top + plot }),
        svg("line", { x1: left, x2: left + plot, y1: y(value), y2: y(value) }),
        text(x(value), top + plot + 16, significant(value, 2), "middle"), text(left - 6, y(value) + 4, significant(value, 2), "end"));
    }
    frame.append(axes, text(left, 15, run.length > 34 ? `${run.slice(0, 33)}…` : run, "start", "point-label"),
      ...view.contours.map((contour) => this.contour(contour, x, y, colour(contour.level))),
      svg("path", { d: `M${x(0) - 4} ${y(0)}h8M${x(0)} ${y(0) - 4}v8`, stroke: cssColour("--ink"), "stroke-width": 1.5 }));
    frame.addEventListener("mousemove", (event) => this.read(event, { run, view }, { left, top, plot }));
    frame.addEventListener("mouseleave", () => { this.readout.textContent = ""; });
    return frame;
  }

  contour({ level, lines, labels }, x, y, tint) {
    const path = (line) => {
      let d = "";
      for (let i = 0; i < line.length; i += 2) d += `${i ? "L" : "M"}${x(line[i]).toFixed(1)} ${y(line[i + 1]).toFixed(1)}`;
      return d;
    };
    const title = svg("title");
    title.textContent = `loss ${significant(level)}`;
    const group = svg("g", { fill: "none", stroke: tint, "stroke-width": 1.4, "stroke-linejoin": "round" }, title,
      svg("path", { d: lines.map(path).join("") }));
    for (const label of labels) {
      const written = text(0, 4, label.text, "middle", "contour-label");
      written.setAttribute("transform", `translate(${x(label.x)} ${y(label.y)}) rotate(${(-label.angle * 180) / Math.PI})`);
      group.append(written);
    }
    return group;
  }

  // The point of the grid that is nearest.
  read(event, { run, view }, { left, top, plot }) {
    const { rows, every } = view.loss, most = rows.length - 1;
    const at = (share) => Math.min(most, Math.max(0, Math.round((share * (view.grid - 1)) / every)));
    const column = at((event.offsetX - left) / plot), row = at(1 - (event.offsetY - top) / plot);
    const place = (index) => significant(view.range * ((2 * index * every) / (view.grid - 1) - 1), 3);
    this.readout.textContent = `${run}, ${place(column)}, ${place(row)}: loss ${significant(rows[row][column])}`;
  }
}

// A figure for each choice of settings; runs that have it are its panels.
function landscapeFigures(runs) {
  const settings = [...new Set(runs().flatMap((run) => run.landscapes.map((view) => view.settings)))];
  return settings.map((name) => {
    const panels = () => runs().flatMap((run) => run.landscapes.filter((view) => view.settings === name)
      .map((view) => ({ run: run.name, view })));
    const first = panels()[0].view, bits = first.bits === "fp" ? "in float" : `at ${first.bits} bits`;
    return new LandscapePlot({ wide: true, title: `Loss landscape ${bits}`, has: () => panels().length > 0, panels,
      note: () => panels().length === 0 ? "" : `Contours of the loss along two random directions, filter by filter as long as the weights; + is where training ended. ` +
        `${count(panels()[0].view.scored)} ${panels()[0].view.unit} of the training set. Stored by bitcycle landscape (${name}).` });
  });
}
