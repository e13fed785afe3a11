// Small helpers: elements, numbers, files to save.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Return an HTML element; text becomes text, never markup. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an SVG element. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Return a number as people read it, with a real minus sign. */
export function figure(value, digits = 2, signDisplay = "negative") {
  if (!Number.isFinite(value)) return "–";
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false, signDisplay };
  return value.toLocaleString("en", options).replace("-", "−");
}

export const signed = (value, digits = 2) => figure(value, digits, "exceptZero");

export const whole = (value) => value.toLocaleString("en");

/** Return a card: its title, what stands beside it, what it holds. */
export function card(title, beside, ...content) {
  return h("section", { class: "card" }, h("div", { class: "head" }, h("h2", null, title), beside), ...content);
}

/** Return names and values in two columns. */
export function facts(rows) {
  return h("dl", { class: "facts" }, rows.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

/** Tell those who do not see the page what has changed. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Let the browser save a file. */
export function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
