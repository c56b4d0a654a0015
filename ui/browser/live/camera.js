// @ts-check
/** The camera beside the voice: one JPEG a second, shown small so that the user sees what the model sees. */
import { make } from "../texts.js";
import { label } from "./labels.js";
import { Trouble, refusal } from "./trouble.js";
import { CAMERA, HEAD, frame } from "./wire.js";

const EVERY_MS = 1_000; // the model takes one picture a unit
const WIDTH = 640; // px; it looks at 448 px tiles, more would only weigh on the tunnel
const QUALITY = 0.8;

export class Camera {
  /** @param {(frame: ArrayBuffer) => void} send */
  constructor(send) {
    this.send = send;
    this.video = make("video", "omni-live-camera");
    Object.assign(this.video, { muted: true, playsInline: true, hidden: true });
    label(this.video, "camera.view", "aria-label");
    this.canvas = document.createElement("canvas");
    this.timer = 0;
    this.number = 0;
  }

  /** Throws `Trouble` when there is none, or it is refused. @param {boolean} on */
  async turn(on) {
    this.close();
    if (!on) return;
    if (!window.isSecureContext || !navigator.mediaDevices) throw new Trouble("mic-insecure-origin");
    try {
      this.video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: WIDTH }, facingMode: "user" } });
    } catch (error) {
      throw refusal(error, "camera");
    }
    this.video.hidden = false;
    await this.video.play();
    this.timer = setInterval(() => this.#take(), EVERY_MS);
  }

  close() {
    clearInterval(this.timer);
    const stream = /** @type {MediaStream | null} */ (this.video.srcObject);
    for (const track of stream?.getTracks() ?? []) track.stop();
    this.video.srcObject = null;
    this.video.hidden = true;
  }

  async #take() {
    const { videoWidth, videoHeight } = this.video;
    if (!videoWidth) return;
    const share = Math.min(1, WIDTH / videoWidth);
    this.canvas.width = Math.round(videoWidth * share);
    this.canvas.height = Math.round(videoHeight * share);
    this.canvas.getContext("2d")?.drawImage(this.video, 0, 0, this.canvas.width, this.canvas.height);
    const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) => this.canvas.toBlob(done, "image/jpeg", QUALITY));
    if (!blob) return;
    const buffer = frame(CAMERA, this.number, blob.size);
    new Uint8Array(buffer, HEAD).set(new Uint8Array(await blob.arrayBuffer()));
    this.number += 1;
    this.send(buffer);
  }
}
