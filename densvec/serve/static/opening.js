// What the page shows first: a sentence whose words the model knows.

import { get, post } from "./api.js";

const EXAMPLES = [
  {
    text: "The bank raised its interest rates after the crisis, while the river bank was flooded by the rain.",
    word: "bank",
    pair: { a: "the river [[bank]] was flooded by the rain", b: "the [[bank]] raised its interest rates" },
  },
  {
    text: "The shy feathered kiwi sniffs and digs.",
    word: "kiwi",
    pair: { a: "the shy [[kiwi]] digs", b: "a ripe [[kiwi]]" },
  },
];

/** Return the first example that the model knows, or its most frequent words. */
export async function opening() {
  for (const example of EXAMPLES) {
    const { tokens } = await post("v1/tokens", { text: example.text });
    if (tokens.every((token) => token.key !== null)) return example;
  }
  const { words } = await get("v1/words", { topn: 8 });
  return { text: words.join(" "), word: words.at(-1), pair: { a: words[0], b: words.at(-1) } };
}
