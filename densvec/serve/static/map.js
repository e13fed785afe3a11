// A map of some hundred words: pan, zoom, search, coloured by generality.

import { address, go, read, wordAddress } from "./address.js";
import { post } from "./api.js";
import { announce, card, figure, h, s } from "./dom.js";
import { placeLabels, saves, sizeOf } from "./picture.js";
import { wordField } from "./suggest.js";
import { tableCard } from "./table.js";

// From specific to general; the ends differ in lightness too, for those who do not tell the hues apart.
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 191, 17]];

export function build(root) {
  const around = wordField("Around a word (empty: frequent words)", "", (word) => set({ around: word, find: null }));
  const top = h("input", { id: "top", type: "number", min: 10, max: 600, step: 10 });
  const skip = h("input", { id: "skip", type: "number", min: 0, step: 50 });
  const find = h("input", { id: "find", type: "search", autocomplete: "off", spellcheck: "false", list: "on-map" });
  const choices = h("datalist", { id: "on-map" });
  const message = h("p", { class: "quiet", role: "status" });
  const set = (changes) => go("map", { ...read().params, ...changes });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); set({ around: around.input.value.trim(), top: top.value, skip: skip.value, find: find.value.trim() }); } },
    h("div", { class: "row" },
      h("div", { class: "grow" }, around.element),
      h("div", { class: "small" }, h("label", { for: "top" }, "Words"), top),
      h("div", { class: "small" }, h("label", { for: "skip" }, "From rank"), skip),
      h("button", { class: "main" }, "Draw"),
      h("div", { class: "grow" }, h("label", { for: "find" }, "Find on the map"), find, choices)));
  const chart = plot();
  const table = h("div", { class: "grid" });
  find.addEventListener("change", () => set({ find: find.value.trim() }));
  root.append(h("h1", null, "A map of words"), form, message,
    card("Words that are used alike stand together", h("span", { class: "row" }, chart.buttons, saves(chart.svg, () => "map")),
      chart.svg, chart.key), table);
  let drawn = null;

  return async function update(params) {
    const body = { top: Math.min(Number(params.top ?? 300) || 300, 600), skip: Number(params.skip ?? 300) || 0 };
    if (params.around) body.around = params.around;
    if (params.words) body.words = params.words.split(",").filter(Boolean);
    around.input.value = params.around ?? "";
    top.value = body.top;
    skip.value = body.skip;
    find.value = params.find ?? "";
    const asked = JSON.stringify(body);
    if (asked !== drawn) {
      message.textContent = "Laying out the words…";
      const answer = await post("v1/map", body);
      drawn = asked;
      chart.draw(answer.words);
      choices.replaceChildren(...answer.words.map((each) => h("option", { value: each.word })));
      table.replaceChildren(h("details", null, h("summary", null, "The same words as a table"), tableCard("Words of the map", [{ name: "word" }, { name: "generality", number: true }, { name: "count", number: true, digits: 0 }, { name: "x", number: true }, { name: "y", number: true }], answer.words, "map")));
    }
    const found = chart.find(params.find ?? params.around ?? null);
    message.textContent = params.find && !found ? `“${params.find}” is not on this map.` : "Drag or use the arrow keys to move, the wheel or + and − to zoom; click a word to read about it.";
    if (params.find && !found) message.append(" ", h("a", { href: address("map", { around: params.find, top: body.top }) }, "Draw a map around it."));
    return params.around ? `Map around ${params.around}` : "Map";
  };
}

export function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(at), RAMP.length - 2);
  const mixed = RAMP[i].map((value, c) => Math.round(value + (RAMP[i + 1][c] - value) * (at - i)));
  return `rgb(${mixed.join(",")})`;
}

function plot() {
  const [WIDTH, HEIGHT] = sizeOf(1000, 640);
  const layer = s("g");
  const svg = s("svg", { class: "picture map", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: 0, role: "application", "aria-label": "Map of words. Arrow keys move it, plus and minus zoom; the table below has the same words." }, layer);
  const key = h("p", { class: "quiet" });
  let words = [];
  let view = { x: WIDTH / 2, y: HEIGHT / 2, zoom: 1 }; // what is in the middle, and how large
  let marked = null;
  let waiting = false;

  function draw(given) {
    const xs = given.map((each) => each.x);
    const ys = given.map((each) => each.y);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const factor = Math.min((WIDTH - Math.min(120, 0.15 * WIDTH)) / (x1 - x0 || 1), (HEIGHT - 60) / (y1 - y0 || 1));
    const values = given.map((each) => each.generality).filter((value) => value !== null).sort((a, b) => a - b);
    words = given.map((each) => ({
      ...each,
      px: WIDTH / 2 + (each.x - (x0 + x1) / 2) * factor,
      py: HEIGHT / 2 - (each.y - (y0 + y1) / 2) * factor,
      // By rank, so that a few very general words do not leave one colour to all the others.
      share: each.generality === null ? 0.3 : values.findIndex((value) => value >= each.generality) / Math.max(values.length - 1, 1),
    }));
    if (values.length) {
      const ramp = s("svg", { class: "ramp", viewBox: "0 0 40 4", preserveAspectRatio: "none", "aria-hidden": "true" }, Array.from({ length: 40 }, (_, i) => s("rect", { x: i, width: 1.1, height: 4, fill: colour(i / 39) })));
      key.replaceChildren(`specific (${figure(values[0], 1)})`, ramp, `general (${figure(values.at(-1), 1)})`);
    } else key.replaceChildren();
    view = { x: WIDTH / 2, y: HEIGHT / 2, zoom: 1 };
    paint();
  }

  function paint() {
    const at = (each) => [WIDTH / 2 + (each.px - view.x) * view.zoom, HEIGHT / 2 + (each.py - view.y) * view.zoom];
    const seen = words.map((each) => ({ ...each, at: at(each) })).filter(({ at: [x, y] }) => x > -5 && y > -5 && x < WIDTH + 5 && y < HEIGHT + 5);
    seen.sort((a, b) => (b.word === marked) - (a.word === marked) || (b.count ?? 0) - (a.count ?? 0));
    const places = placeLabels(seen.map((each) => ({ text: each.word, x: each.at[0], y: each.at[1], must: each.word === marked })), WIDTH, HEIGHT);
    layer.replaceChildren(...seen.map((each, i) => s("a", { href: wordAddress(each.word), class: each.word === marked ? "found" : null, tabindex: -1, draggable: "false" },
      s("title", null, `${each.word}${each.generality === null ? "" : `, generality ${figure(each.generality)}`}`),
      s("circle", { cx: each.at[0], cy: each.at[1], r: each.word === marked ? 7 : 4.5, fill: colour(each.share) }),
      places[i] && s("text", { x: places[i].x, y: places[i].y, "text-anchor": places[i].anchor }, each.word))).reverse());
    svg.dataset.zoom = view.zoom.toFixed(2);
    svg.dataset.middle = `${view.x.toFixed(0)},${view.y.toFixed(0)}`;
  }

  function soon() { // once per frame, however fast the wheel turns
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  function zoomBy(factor, x = WIDTH / 2, y = HEIGHT / 2) {
    const zoom = Math.min(Math.max(view.zoom * factor, 0.5), 20);
    const [dx, dy] = [x - WIDTH / 2, y - HEIGHT / 2];
    view = { zoom, x: view.x + dx / view.zoom - dx / zoom, y: view.y + dy / view.zoom - dy / zoom };
    soon();
  }

  function moveBy(dx, dy) {
    view = { ...view, x: view.x - dx / view.zoom, y: view.y - dy / view.zoom };
    soon();
  }

  function find(word) {
    marked = word;
    const found = words.find((each) => each.word === word);
    if (found && read().params.find) {
      view = { x: found.px, y: found.py, zoom: Math.max(view.zoom, 2.5) };
      announce(`${word} is in the middle of the map`);
    }
    paint();
    return Boolean(found);
  }

  const inPicture = (event) => {
    const box = svg.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
  };
  const fingers = new Map();
  let dragged = 0;
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...inPicture(event));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, inPicture(event));
    dragged = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const [x, y] = inPicture(event);
    const [x0, y0] = fingers.get(event.pointerId);
    if (fingers.size === 2) { // two fingers: their distance is the zoom
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const before = Math.hypot(x0 - other[0], y0 - other[1]);
      if (before > 1) zoomBy(Math.hypot(x - other[0], y - other[1]) / before, (x + other[0]) / 2, (y + other[1]) / 2);
    }
    dragged += Math.hypot(x - x0, y - y0);
    if (dragged > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [x, y]);
    moveBy((x - x0) / fingers.size, (y - y0) / fingers.size);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, (event) => fingers.delete(event.pointerId));
  svg.addEventListener("pointerleave", (event) => { if (!svg.hasPointerCapture(event.pointerId)) fingers.delete(event.pointerId); });
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => { if (dragged > 4) event.preventDefault(); }, true);
  svg.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: () => moveBy(60, 0), ArrowRight: () => moveBy(-60, 0), ArrowUp: () => moveBy(0, 60), ArrowDown: () => moveBy(0, -60), "+": () => zoomBy(1.4), "=": () => zoomBy(1.4), "-": () => zoomBy(1 / 1.4), 0: () => reset() };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  const reset = () => { view = { x: WIDTH / 2, y: HEIGHT / 2, zoom: 1 }; soon(); };
  const buttons = h("span", { class: "saves" },
    h("button", { type: "button", "aria-label": "Zoom in", onclick: () => zoomBy(1.4) }, "+"),
    h("button", { type: "button", "aria-label": "Zoom out", onclick: () => zoomBy(1 / 1.4) }, "−"),
    h("button", { type: "button", onclick: reset }, "whole map"));
  return { svg, key, buttons, draw, find };
}
