// A map of some hundred words, coloured by generality.

import { go, wordAddress } from "./address.js";
import { post } from "./api.js";
import { card, figure, h, s } from "./dom.js";
import { placeLabels, saves, scale, sizeOf } from "./picture.js";
import { wordField } from "./suggest.js";
import { tableCard } from "./table.js";

// From specific to general; the ends differ in lightness too, for those who do not tell the hues apart.
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 191, 17]];

export function build(root) {
  const draw = () => go("map", { around: around.input.value.trim(), top: top.value, skip: skip.value });
  const around = wordField("Around a word (empty: frequent words)", "", draw);
  const top = h("input", { id: "top", type: "number", min: 10, max: 600, step: 10 });
  const skip = h("input", { id: "skip", type: "number", min: 0, step: 50 });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); draw(); } },
    h("div", { class: "row" },
      h("div", { class: "grow" }, around.element),
      h("div", { class: "small" }, h("label", { for: "top" }, "Words"), top),
      h("div", { class: "small" }, h("label", { for: "skip" }, "From rank"), skip),
      h("button", { class: "main" }, "Draw")));
  const result = h("div");
  root.append(h("h1", null, "A map of words"), form, result);

  return async function update(params) {
    const body = { top: Math.min(Number(params.top ?? 300) || 300, 600), skip: Number(params.skip ?? 300) || 0 };
    if (params.around) body.around = params.around;
    if (params.words) body.words = params.words.split(",").filter(Boolean);
    around.input.value = params.around ?? "";
    top.value = body.top;
    skip.value = body.skip;
    const { words } = await post("v1/map", body);
    const columns = [{ name: "word" }, { name: "generality", number: true }, { name: "count", number: true, digits: 0 }, { name: "x", number: true }, { name: "y", number: true }];
    result.replaceChildren(picture(words, params.around),
      h("div", { class: "grid" }, h("details", null, h("summary", null, "The same words as a table"), tableCard("Words of the map", columns, words, "map"))));
    return params.around ? `Map around ${params.around}` : "Map";
  };
}

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(at), RAMP.length - 2);
  const mixed = RAMP[i].map((value, c) => Math.round(value + (RAMP[i + 1][c] - value) * (at - i)));
  return `rgb(${mixed.join(",")})`;
}

/** Draw words where they are on the map, with the names for which there is room. */
function picture(words, middle) {
  const [WIDTH, HEIGHT] = sizeOf(1000, 640);
  const to = scale(words.map((each) => ({ ...each, r: 0 })), WIDTH, HEIGHT);
  const values = words.map((each) => each.generality).filter((value) => value !== null).sort((a, b) => a - b);
  // By rank, so that a few very general words do not leave one colour to all the others.
  const share = ({ generality }) => (generality === null ? 0.3 : values.findIndex((value) => value >= generality) / Math.max(values.length - 1, 1));
  // The names of frequent words are placed first.
  const points = words.map((each) => ({ ...each, text: each.word, x: to.x(each.x), y: to.y(each.y), must: each.word === middle }));
  points.sort((a, b) => b.must - a.must || (b.count ?? 0) - (a.count ?? 0));
  const places = placeLabels(points, WIDTH, HEIGHT);
  const drawn = points.map((each, i) => s("a", { href: wordAddress(each.word), class: each.must ? "found" : null, tabindex: -1 },
    s("title", null, `${each.word}${each.generality === null ? "" : `, generality ${figure(each.generality)}`}`),
    s("circle", { cx: each.x, cy: each.y, r: each.must ? 7 : 4.5, fill: colour(share(each)) }),
    places[i] && s("text", { x: places[i].x, y: places[i].y, "text-anchor": places[i].anchor }, each.word)));
  const svg = s("svg", { class: "picture map", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Map of words; the table below has the same words" }, drawn.reverse());
  const ramp = s("svg", { class: "ramp", viewBox: "0 0 40 4", preserveAspectRatio: "none", "aria-hidden": "true" }, Array.from({ length: 40 }, (_, i) => s("rect", { x: i, width: 1.1, height: 4, fill: colour(i / 39) })));
  return card("Words that are used alike stand together", saves(svg, () => "map"), svg,
    values.length > 0 && h("p", { class: "quiet" }, `specific (${figure(values[0], 1)})`, ramp, `general (${figure(values.at(-1), 1)})`));
}
