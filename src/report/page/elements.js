"use strict";
// Making elements. Text always goes in as text, never as markup, so that no name of a run, layer or
// recipe can be anything but letters.

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(tag, properties = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function table(head, rows, properties = {}) {
  const cell = (value, index) =>
    index === 0 ? element("th", { scope: "row" }, value) : element("td", {}, value);
  return element("table", properties,
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
}

// A table that is made when somebody opens it. Pages have many, so that it is a group and no landmark.
function valuesTable(title, make) {
  const details = element("details", { class: "values" }, element("summary", {}, "Values as a table"));
  const body = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Values of ${title}` });
  details.append(body);
  const fill = () => { if (details.open) body.replaceChildren(...[make()].flat()); };
  details.addEventListener("toggle", fill);
  return { element: details, refresh: fill };
}

// A table with a sentence above it, where there is one.
function valuesWithNote(note, made) {
  return note ? [element("p", { class: "note" }, note), made] : [made];
}

// One of a few, as buttons of a radio group.
function choice(label, options, chosen, onchoose) {
  const name = `choice-${choice.count = (choice.count || 0) + 1}`;
  const field = element("fieldset", { class: "choice" }, element("legend", { class: "hidden-text" }, label));
  for (const option of options) {
    const input = element("input", { type: "radio", name, value: option.value,
                                     onchange: () => onchoose(option.value) });
    input.checked = option.value === chosen;
    field.append(element("label", {}, input, element("span", {}, option.text)));
  }
  return field;
}
