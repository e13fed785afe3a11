// Every state of the page has its own address, after the #: #/word?word=kiwi.

export function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path || "sentence", params: Object.fromEntries(new URLSearchParams(query)) };
}

/** Return the address of a state; what is empty is left out, and the model stays chosen. */
export function address(view, params = {}) {
  const { model } = read().params;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ model, ...params })) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Go to a state; the back button returns from it. */
export function go(view, params) {
  const target = address(view, params);
  if (target === location.hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = target;
}

export const wordAddress = (word) => address("word", { word });
