// Tables that can be saved as CSV.

import { wordAddress } from "./address.js";
import { card, figure, h, save } from "./dom.js";

function quoted(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(columns, rows) {
  const lines = [columns.map((column) => column.name), ...rows.map((row) => columns.map((column) => row[column.name]))];
  return lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/**
 * Return a card with a table. A column is {name, title, number, digits, link}.
 */
export function tableCard(title, columns, rows, file, note = null) {
  columns = columns.filter((column) => rows.some((row) => row[column.name] !== undefined));
  const head = h("tr", null, columns.map((column) => h("th", { scope: "col", class: column.number && "number" }, column.title ?? column.name)));
  const body = rows.map((row) => h("tr", null, columns.map((column) => cell(column, row))));
  const button = h("button", { type: "button", "aria-label": `Save the table “${title}” as CSV`, onclick: () => save(`${file}.csv`, csv(columns, rows), "text/csv") }, "CSV");
  return card(title, h("span", { class: "saves" }, button),
    note && h("p", { class: "quiet" }, note),
    rows.length ? h("div", rows.length > 14 ? { class: "scroll", tabindex: 0, role: "region", "aria-label": title } : null, h("table", null, h("thead", null, head), h("tbody", null, body))) : h("p", { class: "quiet" }, "None."));
}

function cell(column, row) {
  const value = row[column.name];
  if (column.number) return h("td", { class: "number" }, typeof value === "number" ? figure(value, column.digits ?? 2) : "–");
  if (column.link === false) return h("td", null, value);
  return h("td", null, h("a", { class: "word", href: wordAddress(value) }, value));
}

export const scoreColumns = (title, digits = 2) => [{ name: "word" }, { name: "score", title, number: true, digits }, { name: "count", title: "times", number: true, digits: 0 }];
