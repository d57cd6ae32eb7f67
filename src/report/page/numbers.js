// Numbers as people read them.

function significant(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) {
    return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
  }
  return Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1)))))
    .toLocaleString("en", { maximumFractionDigits: 6 });
}

function percent(value, digits = 1) {
  return value === null || value === undefined ? "–" : `${value.toFixed(digits)} %`;
}

function metricText(metric, value) {
  if (value === null || value === undefined) return "–";
  if (metric && metric.form === "percent") return percent(value, 2);
  return metric && metric.form === "exponential" ? value.toFixed(2) : significant(value);
}

// A metric by its name, for curves whose metric is not the primary one.
function formatOf(name) {
  return name === "accuracy" ? (value) => percent(value, 2) : (value) => significant(value);
}

function count(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${significant(seconds * 1000, 3)} ms`;
  if (seconds < 90) return `${significant(seconds, 3)} s`;
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function counted(number, noun) { return `${count(number)} ${noun}${number === 1 ? "" : "s"}`; }

function bitsText(bits) {
  return bits === null || bits === undefined ? "–" : bits === 32 ? "float" : `${significant(bits, 3)} bits`;
}

function words(name) {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Round numbers between two bounds, about so many.
function niceTicks(low, high, about) {
  const raw = (high - low) / Math.max(1, about) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) {
    ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return ticks;
}

// The index of the last entry of an ascending list that is not above a value; -1 before all.
function lastNotAbove(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}
