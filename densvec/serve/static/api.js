// Asking the service. The page knows no other host.

const base = new URL(".", document.baseURI.split("#")[0]).pathname;
let model = null;

export function chooseModel(name) {
  model = name;
}

function token() {
  return sessionStorage.getItem("densvec-token");
}

/** Ask for JSON; an error has the service's sentence as its message. */
async function ask(path, options = {}) {
  const url = new URL(base + path, location.origin);
  if (model) url.searchParams.set("model", model);
  const headers = { ...options.headers };
  if (token()) headers.authorization = `Bearer ${token()}`;
  let response;
  try {
    response = await fetch(url, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The service does not answer: is it still running?");
  }
  if (response.status === 401) {
    const given = prompt("This service needs a token:");
    if (given) {
      sessionStorage.setItem("densvec-token", given);
      return ask(path, options);
    }
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `The service answered with status ${response.status}.`);
  return answer;
}

export function get(path, query = {}, signal = undefined) {
  const text = new URLSearchParams(query).toString();
  return ask(text ? `${path}?${text}` : path, { signal });
}

export function post(path, body, signal = undefined) {
  const headers = { "content-type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}
