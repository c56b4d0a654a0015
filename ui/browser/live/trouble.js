// @ts-check
/** What may go wrong before or between the words: keys of the fault catalogue, as the page shows them. */

export class Trouble extends Error {
  /** @param {string} key of deploy/faults.yaml */
  constructor(key) {
    super(key);
    this.key = key;
  }
}

/** The key for what getUserMedia refused with. @param {unknown} error @param {"microphone" | "camera"} what */
export function refusal(error, what) {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return new Trouble(`live-${what}-refused`);
  if (name === "NotFoundError" || name === "OverconstrainedError") return new Trouble(`live-no-${what}`);
  if (name === "NotReadableError" || name === "AbortError") return new Trouble(`live-${what}-taken`);
  return error;
}
