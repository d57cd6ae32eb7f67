// Which rows the table of a chart has. A page has up to 1200 points of each curve; tables of many
// curves would be too large with all of them. Curves of few points, such as evaluations and changes of
// bits, then keep theirs longest, and the first and last of every curve are always there.

const mostCells = 20000;

// So many of the indices below a length, the first and the last among them.
function spreadOver(length, most) {
  const stride = Math.max(1, Math.ceil((length - 1) / Math.max(1, most - 1)));
  return [...Array(length).keys()].filter((i) => i % stride === 0 || i === length - 1);
}

function stepsOf(curves, most) {
  return new Set(curves.flatMap(({ x }) => spreadOver(x.length, most).map((i) => x[i])));
}

// The steps of as many rows as there is room for.
function shownSteps(curves) {
  let most = Math.max(...curves.map(({ x }) => x.length)), steps = stepsOf(curves, most);
  while (steps.size * (curves.length + 1) > mostCells && most > 2) {
    most = Math.max(2, Math.floor(most * 0.7));
    steps = stepsOf(curves, most);
  }
  return steps;
}

// What is not in the table, of what the page has and of what was left out of the page already.
function leftOut(curves, steps) {
  const cut = curves.map(({ label, x, of }) => ({ label, all: of || x.length, shown: x.filter((step) => steps.has(step)).length }))
    .filter(({ all, shown }) => shown < all);
  if (cut.length === 0) return "";
  const least = Math.min(...cut.map(({ shown }) => shown)), most = Math.max(...cut.map(({ all }) => all));
  const parts = cut.length > 3 ? [`of ${cut.length} curves at least ${count(least)} of up to ${count(most)} values each`]
    : cut.map(({ label, shown, all }) => `of ${label} ${count(shown)} of ${count(all)} values`);
  return `Some rows are left out: the table has ${parts.join(", ")}, the first and the last among them.`;
}
