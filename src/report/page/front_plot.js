// Score against cost: options.points() gives {label, hint, x, y, error, front, colour}. Points have
// their names beside them as far as there is room, those on the front first; the others have theirs
// where one points at them, and in the table.

const labelHeight = 14, mostLabelWidth = 240;

const clearOf = (one, other) => one.to <= other.from || other.to <= one.from || one.bottom <= other.top || other.bottom <= one.top;

class FrontPlot extends SvgDrawing {
  constructor(options) {
    super(options);
    this.addValues(options.table);
  }

  make() {
    const points = this.options.points(), height = Math.min(420, Math.max(280, this.width * 0.45));
    const costs = points.map((point) => point.x), format = this.options.format;
    const wide = Math.max(...costs) / Math.min(...costs) > 4;
    const costText = (value) => significant(value, 3);
    const xAxis = wide ? logarithmicAxis(costs, costText) : linearAxis(costs, this.width / 140, costText);
    xAxis.title = this.options.xTitle + (wide ? ", logarithmic" : "");
    xAxis.lines = true;
    const ends = points.flatMap((point) => [point.y - (point.error || 0), point.y + (point.error || 0)]);
    const frame = this.frame(height), place = axes(this.width, height, xAxis, linearAxis(ends, 6, format));
    const labels = this.labels(points, place), unnamed = points.length - labels.length;
    frame.append(place.group, this.line(points, place), ...labels, ...points.map((point) => this.mark(point, place)));
    this.body.replaceChildren(frame, unnamed === 0 ? "" : element("p", { class: "note" },
      `There is no room for the names of ${unnamed} of ${points.length} points: point at one, or open the table.`));
  }

  line(points, place) {
    const front = points.filter((point) => point.front).sort((a, b) => a.x - b.x);
    return svg("polyline", { class: "front-line", points: front.map((p) => `${place.x(p.x)},${place.y(p.y)}`).join(" ") });
  }

  mark(point, place) {
    const x = place.x(point.x), y = place.y(point.y), colour = seriesColour(point.colour);
    const group = svg("g", { stroke: colour, fill: colour });
    if (point.error) {
      group.append(svg("line", { x1: x, x2: x, y1: place.y(point.y - point.error),
                                 y2: place.y(point.y + point.error), "stroke-width": 1.6 }));
    }
    const title = svg("title");
    title.textContent = point.hint;
    const dot = svg("circle", { cx: x, cy: y, r: point.front ? 6 : 5, "stroke-width": 2,
                                "fill-opacity": point.front ? 1 : 0.25 }, title);
    dot.addEventListener("pointerenter", () => { this.readout.textContent = point.hint; });
    dot.addEventListener("pointerleave", () => { this.readout.textContent = ""; });
    group.append(dot);
    return group;
  }

  // What a point keeps for itself: its bar, and its dot with so much room beside it that no other's name seems its own.
  covered(point, place) {
    const x = place.x(point.x), y = place.y(point.y), error = point.error || 0;
    return [{ point, from: x - 20, to: x + 20, top: y - 7, bottom: y + 7 },
            { from: x - 1, to: x + 1, top: place.y(point.y + error), bottom: place.y(point.y - error) }];
  }

  // Right of a point, left of it, above or below: the first place within the axes that nothing covers.
  roomBeside(point, width, place, taken) {
    const x = place.x(point.x), y = place.y(point.y), half = labelHeight / 2;
    const corners = [[x + 10, y - half], [x - 10 - width, y - half], [x - width / 2, y - 9 - labelHeight], [x - width / 2, y + 9]];
    return corners.map(([from, top]) => ({ from, to: from + width, top, bottom: top + labelHeight }))
      .find((box) => box.from > place.left && box.to <= place.right && box.top >= place.top && box.bottom <= place.bottom &&
        taken.every((other) => other.point === point || clearOf(box, other)));
  }

  // Within the width, if there is room for it.
  label(point, most, place, taken) {
    const content = elided(point.label, most), box = this.roomBeside(point, labelWidth(content), place, taken);
    if (!box) return null;
    taken.push(box);
    return text(box.from, box.bottom - 3, content, "start", "point-label");
  }

  labels(points, place) {
    const taken = points.flatMap((point) => this.covered(point, place));
    const most = Math.min(mostLabelWidth, 0.6 * (place.right - place.left));
    return [...points].sort((a, b) => b.front - a.front).map((point) => this.label(point, most, place, taken) ||
      (point.front ? this.label(point, most / 2, place, taken) : null)).filter(Boolean);
  }
}
