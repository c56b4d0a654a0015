// @ts-check
/** The binary frames of the page's socket (ui/live/page_wire.py): kind, three zero bytes, a number, then the payload. */

export const MICROPHONE = 1;
export const CAMERA = 2;
export const SPEECH = 3;
export const HEAD = 8;
export const MIC_RATE = 16_000; // what the model hears
export const MIC_FRAME = 3_200; // samples, 200 ms: five make one unit of the model

/** An empty frame with room for `bytes`. @param {number} kind @param {number} number @param {number} bytes */
export function frame(kind, number, bytes) {
  const buffer = new ArrayBuffer(HEAD + bytes);
  const view = new DataView(buffer);
  view.setUint8(0, kind);
  view.setUint32(4, number, true);
  return buffer;
}

/** What stands before the payload, which lies at HEAD. @param {ArrayBuffer} buffer */
export function head(buffer) {
  const view = new DataView(buffer);
  return { kind: view.getUint8(0), number: view.getUint32(4, true) };
}
