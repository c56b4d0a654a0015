// @ts-check
/** Questions to the app and orders to the launcher, in the page's language. */
import { speaking } from "./labels.js";

const PATIENCE_MS = 30_000; // a check-up asks cards and packages; on a busy machine that takes seconds

/**
 * @param {string} path below the page
 * @param {Record<string, string | number>} [query]
 * @returns {Promise<any | null>} null: no answer, or none for us
 */
export async function get(path, query = {}) {
  const url = new URL(path, document.baseURI);
  for (const [name, value] of Object.entries({ ...query, language: speaking() })) url.searchParams.set(name, String(value));
  try {
    const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} path
 * @param {object} body
 * @returns {Promise<any>} the launcher's own document; `{refused: true}` where the app does not let us
 */
export async function post(path, body) {
  const url = new URL(path, document.baseURI);
  url.searchParams.set("language", speaking());
  try {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), headers });
    return answer.ok ? await answer.json() : { refused: true };
  } catch {
    return { refused: true };
  }
}
