// Pictures of densities: circles and labels that keep out of each other's way, saved as SVG.

import { wordAddress } from "./address.js";
import { h, s, save } from "./dom.js";

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight", "text-anchor"];

/** Return a copy of a picture that looks the same without the page's style sheet. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const drawn = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(drawn[i]);
    for (const name of KEPT) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "style"]) element.removeAttribute(name);
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const background = getComputedStyle(svg.closest(".card")).backgroundColor;
  copy.prepend(s("rect", { width, height, fill: background }));
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  for (const name of ["class", "tabindex", "role", "aria-label"]) copy.removeAttribute(name);
  for (const link of copy.querySelectorAll("a")) link.removeAttribute("href");
  return new XMLSerializer().serializeToString(copy);
}

/** Return the size to draw at: smaller on a phone, so that names are as large as the text around them. */
export function sizeOf(width, height) {
  return matchMedia("(max-width: 34rem)").matches ? [380, 380] : [width, height];
}

/** Return the button that saves a picture. */
export function saves(svg, name) {
  return h("span", { class: "saves" },
    h("button", { type: "button", "aria-label": "Save the picture as SVG", onclick: () => save(`${name()}.svg`, standalone(svg), "image/svg+xml") }, "SVG"));
}

/** Return functions from the plane to the picture that show all circles, at one scale for both axes. */
export function scale(circles, width, height, margin = 26) {
  const reach = (c) => 1.04 * c.r;
  const low = (axis) => Math.min(...circles.map((c) => c[axis] - reach(c)));
  const high = (axis) => Math.max(...circles.map((c) => c[axis] + reach(c)));
  const [x0, x1, y0, y1] = [low("x"), high("x"), low("y"), high("y")];
  const factor = Math.min((width - 4 * margin) / (x1 - x0 || 1), (height - 2 * margin) / (y1 - y0 || 1));
  return {
    factor,
    x: (x) => width / 2 + (x - (x0 + x1) / 2) * factor,
    y: (y) => height / 2 - (y - (y0 + y1) / 2) * factor,
  };
}

/**
 * Give each label a place beside its point where it covers no other, or none; earlier ones choose first.
 * A label is {text, x, y, size, must}; it gets {left, top, anchor}.
 */
export function placeLabels(labels, width, height, taken = []) {
  const boxes = [...taken, ...labels.map((l) => [l.x - 3, l.y - 3, l.x + 3, l.y + 3])];
  const placed = [];
  for (const [i, label] of labels.entries()) {
    const size = label.size ?? 14;
    const w = label.text.length * size * 0.56 + 2;
    const places = [...(label.must ? [[0, -9, "middle"], [0, size + 7, "middle"]] : []), [6, size * 0.35, "start"], [-6, size * 0.35, "end"], [0, -7, "middle"], [0, size + 4, "middle"], [6, -5, "start"], [6, size, "start"], [-6, -5, "end"], [-6, size, "end"]];
    const free = places.map(([dx, dy, anchor]) => {
      const [x, y] = [label.x + dx, label.y + dy];
      const left = anchor === "start" ? x : anchor === "end" ? x - w : x - w / 2;
      return { x, y, anchor, box: [left, y - size * 0.8, left + w, y + size * 0.25] };
    });
    const own = taken.length + i;
    const inside = (b) => b[0] >= 0 && b[1] >= 0 && b[2] <= width && b[3] <= height;
    const clear = (b) => boxes.every((other, j) => j === own || b[2] <= other[0] || b[0] >= other[2] || b[3] <= other[1] || b[1] >= other[3]);
    const found = free.find(({ box }) => inside(box) && clear(box)) ?? (label.must ? free.find(({ box }) => inside(box)) ?? free[0] : null);
    if (found) boxes.push(found.box);
    placed.push(found ?? null);
  }
  return placed;
}

/** Draw words as faint circles with dots and names that lead to their pages. */
export function drawWords(group, words, to, width, height, named) {
  const points = words.map((word) => ({ text: word.word, x: to.x(word.x), y: to.y(word.y), r: word.r * to.factor }));
  const fixed = named.map((label) => ({ ...label, must: true }));
  const places = placeLabels([...fixed, ...points], width, height);
  group.replaceChildren(...points.map((point, i) => {
    const place = places[fixed.length + i];
    return s("a", { href: wordAddress(point.text), class: "other", "aria-label": point.text },
      s("title", null, point.text),
      s("circle", { cx: point.x, cy: point.y, r: point.r }),
      s("circle", { class: "dot", cx: point.x, cy: point.y, r: 3 }),
      place && s("text", { x: place.x, y: place.y, "text-anchor": place.anchor }, point.text));
  }), ...fixed.map((label, i) => s("text", { class: label.class, x: places[i].x, y: places[i].y, "text-anchor": places[i].anchor }, label.text)));
}

/** Return an arrow between two points, nothing if they are one. */
export function arrow(x0, y0, x1, y1) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 4) return s("g");
  const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
  const tip = [[x1, y1], [x1 - 9 * dx + 4.5 * dy, y1 - 9 * dy - 4.5 * dx], [x1 - 9 * dx - 4.5 * dy, y1 - 9 * dy + 4.5 * dx]];
  return s("g", null,
    s("line", { class: "arrow", x1: x0, y1: y0, x2: x1 - 7 * dx, y2: y1 - 7 * dy }),
    s("polygon", { class: "tip", points: tip.map((point) => point.join(",")).join(" ") }));
}
