// @ts-check
/** Sentences under `server.`, in the page's language. */
import { language, t } from "../language.js";

/** @returns {"zh" | "en"} */
export const speaking = () => /** @type {any} */ (language());

/** @param {string} key @param {Record<string, string | number>} [facts] @returns {string} */
export const word = (key, facts = {}) => t(`server.${key}`, facts);
