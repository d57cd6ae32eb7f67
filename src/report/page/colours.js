// Colours: those of the style sheet, a palette for curves, a scale for bits and other quantities.

const palettes = {
  light: ["#2f5bd8", "#d9480f", "#0b7a5e", "#9c36b5", "#946c00", "#c2255c", "#1c7ca8", "#5f6b7a"],
  dark: ["#7aa2ff", "#ff9b5e", "#4fd1a5", "#d996ef", "#e9c14b", "#ff8fb3", "#63c7ee", "#a9b4c0"],
};
const scales = {
  light: [[226, 238, 255], [147, 190, 250], [64, 124, 224], [29, 74, 168], [11, 34, 96]],
  dark: [[24, 42, 74], [34, 80, 158], [70, 130, 235], [140, 184, 255], [226, 238, 255]],
};

const theme = {
  choices: ["system", "light", "dark"],
  chosen: "system",
  printing: false,
  get dark() {
    if (this.printing) return false;
    if (this.chosen !== "system") return this.chosen === "dark";
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  },
  apply() { document.documentElement.dataset.theme = this.dark ? "dark" : "light"; },
};

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Past the palette, hues that are far from their neighbours.
function seriesColour(index) {
  const palette = palettes[theme.dark ? "dark" : "light"];
  if (index < palette.length) return palette[index];
  const hue = (index * 137.508) % 360;
  return theme.dark ? `hsl(${hue} 70% 70%)` : `hsl(${hue} 65% 38%)`;
}

// Of a share from 0 to 1.
function scaleColour(share) {
  const stops = scales[theme.dark ? "dark" : "light"];
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const at = Math.min(stops.length - 2, Math.floor(place));
  const mixed = stops[at].map((from, i) => Math.round(from + (place - at) * (stops[at + 1][i] - from)));
  return `rgb(${mixed.join(",")})`;
}
