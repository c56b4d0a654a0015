// @ts-check
/** What a conversation is opened with: voice, manner, microphone, and the switches. The form left of the conversation. */
import { make, show, write } from "../texts.js";
import { label, speaking, word } from "./labels.js";

/**
 * @typedef {{zh: string, en: string}} Both
 * @typedef {{voices: {id: string, name: Both, seconds: number}[], manners: {id: string, name: Both, says: Both}[],
 *            server: {wire: string, barge_in: boolean, camera: boolean, own_voice?: boolean} | null}} Offer of GET live/state
 */

const UPLOAD_MOST = 32 << 20; // bytes; a minute of uncompressed studio sound is 17 MB, and ten seconds are asked for

export class Wishes {
  /**
   * @param {{device: (id: string) => void, push: (on: boolean) => void, voice: (on: boolean) => void, camera: (on: boolean) => void}} hands
   * @param {string} base
   */
  constructor(hands, base) {
    this.base = base;
    /** @type {Offer} */
    this.offer = { voices: [], manners: [], server: null };
    /** @type {{token: string, name: string, seconds: number} | null} */
    this.upload = null;
    this.voices = make("select");
    this.voices.dataset.wish = "voice";
    this.file = make("input");
    Object.assign(this.file, { type: "file", accept: "audio/*,video/*", hidden: true });
    this.file.addEventListener("change", () => this.#upload());
    this.pick = button("omni-live-link", "voice.upload", () => this.file.click());
    this.said = make("p", "omni-live-small");
    this.said.setAttribute("role", "status");
    this.manners = make("select");
    this.manners.dataset.wish = "manner";
    this.manners.addEventListener("change", () => this.#manner());
    this.own = make("textarea");
    this.own.rows = 3;
    this.own.maxLength = 4000; // the server's context is worth more than a longer preamble
    this.own.dataset.wish = "instructions";
    this.own.addEventListener("input", () => (this.manners.value = ""));
    this.devices = make("select");
    this.devices.dataset.wish = "device";
    this.devices.addEventListener("change", () => hands.device(this.devices.value));
    this.meter = make("meter");
    Object.assign(this.meter, { min: 0, max: 1, low: 0.02, value: 0 });
    this.free = radio("free", true, () => hands.push(false));
    this.push = radio("push", false, () => hands.push(true));
    this.voice = check("barge", hands.voice);
    this.vad = check("vad", () => {});
    this.record = check("record", () => {});
    this.camera = check("camera", hands.camera);
    this.why = make("p", "omni-live-small");
    label(this.devices, "microphone", "aria-label");
    label(this.meter, "level", "aria-label");
    label(this.own, "manner.own", "aria-label");
    label(this.own, "manner.placeholder", "placeholder");
    const group = make("div", "omni-live-chips", [this.free.box, this.push.box]);
    group.setAttribute("role", "radiogroup");
    label(group, "talk", "aria-label");
    this.box = make("div", "omni-live-wishes", [
      field("voice", [this.voices, make("div", "omni-live-line", [this.pick, this.file]), this.said]),
      field("manner", [this.manners, this.own]),
      field("microphone", [this.devices, this.meter]),
      make("div", "omni-live-field", [label(make("span", "omni-live-name"), "talk"), group]),
      make("div", "omni-live-chips", [this.voice.box, this.vad.box, this.record.box, this.camera.box]),
      this.why,
    ]);
    this.draw();
    addEventListener("omni:language", () => this.draw());
  }

  /** What the app offers now. Asked again for each conversation: what the server can is known only after the first. */
  async refresh() {
    const answer = await fetch(new URL("live/state", this.base)).catch(() => null);
    if (!answer?.ok) return;
    this.offer = await answer.json();
    this.draw();
  }

  /** @param {MediaDeviceInfo[]} microphones */
  microphones(microphones) {
    const before = this.devices.value;
    const options = microphones.map(({ deviceId, label: name }, i) => option(deviceId, name || word("microphone.nth", { n: i + 1 })));
    if (options.length + 1 === this.devices.length && options.every(({ value }, i) => this.devices.options[i + 1].value === value)) return;
    this.devices.replaceChildren(option("", word("microphone.default")), ...options);
    this.devices.value = microphones.some(({ deviceId }) => deviceId === before) ? before : "";
  }

  /** While a conversation lasts, what it was opened with stays. @param {boolean} live @param {{camera: boolean} | null} can */
  settle(live, can) {
    for (const fixed of [this.voices, this.pick, this.manners, this.own, this.vad.input, this.record.input]) fixed.disabled = live;
    const server = can ?? this.offer.server;
    this.camera.input.disabled = server !== null && !server.camera;
    write(this.why, this.camera.input.disabled ? word("camera.off") : "");
    show(this.why, this.camera.input.disabled);
  }

  /** @returns {import("./talk.js").Wishes} */
  get value() {
    const manner = this.offer.manners.find(({ id }) => id === this.manners.value);
    return {
      instructions: manner?.id ?? this.own.value.trim(),
      voice: this.voices.value || "server",
      record: this.record.input.checked,
      server_vad: this.vad.input.checked && !this.vad.box.hidden,
      language: speaking(),
    };
  }

  draw() {
    const { voices, manners, server } = this.offer;
    const tongue = speaking();
    const [voice, manner] = [this.voices.value, this.manners.value];
    const offered = voices.map(({ id, name, seconds }) => option(id, `${name[tongue]} · ${seconds.toFixed(1)} s`));
    if (this.upload) offered.push(option(`upload:${this.upload.token}`, `${this.upload.name} · ${this.upload.seconds.toFixed(1)} s`));
    this.voices.replaceChildren(...offered);
    if ([...this.voices.options].some(({ value }) => value === voice)) this.voices.value = voice;
    this.manners.replaceChildren(...manners.map(({ id, name }) => option(id, name[tongue])), option("", word("manner.own")));
    this.manners.value = manners.some(({ id }) => id === manner) || this.own.value ? manner : manners[0]?.id ?? "";
    this.#manner();
    show(this.vad.box, Boolean(server?.barge_in));
  }

  #manner() {
    const manner = this.offer.manners.find(({ id }) => id === this.manners.value);
    if (manner) this.own.value = manner.says[speaking()];
  }

  async #upload() {
    const file = this.file.files?.[0];
    this.file.value = "";
    if (!file) return;
    if (file.size > UPLOAD_MOST) return write(this.said, word("voice.large"));
    write(this.said, word("voice.sending"));
    const answer = await fetch(new URL("live/voice", this.base), { method: "POST", body: file }).catch(() => null);
    const body = await answer?.json().catch(() => null);
    const tongue = speaking();
    if (!answer?.ok) {
      const fault = body?.fault;
      return write(this.said, fault ? `${fault.cause[tongue]} ${fault.cure[tongue]}` : word("voice.failed"));
    }
    this.upload = { token: body.token, name: file.name, seconds: body.seconds };
    this.draw();
    this.voices.value = `upload:${body.token}`;
    write(this.said, body.notices.map((/** @type {any} */ { cause, cure }) => `${cause[tongue]} ${cure[tongue]}`).join(" "));
  }
}

/** @param {string} key @param {(HTMLElement)[]} inside the first one is what the name names */
function field(key, inside) {
  return make("div", "omni-live-field", [make("label", "", [label(make("span", "omni-live-name"), key), inside[0]]), ...inside.slice(1)]);
}

/** @param {string} value @param {string} text */
function option(value, text) {
  return new Option(text, value);
}

/** @param {string} name @param {string} key @param {(event: MouseEvent) => void} press */
export function button(name, key, press) {
  const it = label(make("button", name), key);
  it.type = "button";
  it.addEventListener("click", press);
  return it;
}

/** @param {string} key @param {(on: boolean) => void} turned */
function check(key, turned) {
  const input = make("input");
  input.type = "checkbox";
  input.dataset.wish = key;
  input.addEventListener("change", () => turned(input.checked));
  return { input, box: label(make("label", "omni-live-chip", [input, label(make("span"), `switch.${key}`)]), `switch.${key}.help`, "title") };
}

/** @param {string} key @param {boolean} checked @param {() => void} chosen */
function radio(key, checked, chosen) {
  const input = make("input");
  Object.assign(input, { type: "radio", name: "omni-live-talk", checked });
  input.dataset.wish = key;
  input.addEventListener("change", chosen);
  return { input, box: label(make("label", "omni-live-chip", [input, label(make("span"), `talk.${key}`)]), `talk.${key}.help`, "title") };
}
