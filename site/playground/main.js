// The page: examples, editor, messages, and the picture of the run in a frame.
import { editor } from "./editor.js";
import { Engine, Stopped } from "./engine.js";
import { Schema } from "./schema.js";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const options = new URLSearchParams(location.search);
const utf8 = new TextEncoder();
/** Computing time after which a run ends, s. */
const LIMIT = Number(options.get("limit")) || 60;
/** Time that a run may take to reach a communication point after that, and to make its page, s. */
const PATIENCE = Math.min(20, 2 * LIMIT);
/** Time between the last key and the validation, ms. */
const PAUSE = 250;
const FIRST = "examples/two_link.toml";

/** Decompresses the program, Base64 of gzip at the end of the page. */
async function program() {
  if (document.readyState === "loading") await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
  const text = byId("program").textContent;
  byId("program").remove();
  const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

/** Starts the browser's graphics, which takes part of a second, while the program is compiled. */
function warm() {
  const context = document.createElement("canvas").getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext();
}

const engine = new Engine(program(), byId("worker").textContent);
const state = { file: FIRST, timer: 0, running: false, changed: 0 };
const spec = editor(byId("editor"), new Schema(data.schema), changed, () => run());

/** Returns a message of `grapple check` without the position at its end, and the position. */
function split(text) {
  const found = text.match(/^(.*) \[([^[\]]+):(\d+):(\d+)\]$/s);
  return found ? { text: found[1], file: found[2], position: [Number(found[3]), Number(found[4])] } : { text, file: "", position: null };
}

/** Adds a hint to the message of a file that is missing. */
function hinted(problem) {
  const isMissing = /No such file|no such file/.test(problem.text);
  return { ...problem, severity: "error", text: isMissing ? `${problem.text}. This page has the files of the examples only.` : problem.text };
}

/** Shows the result of the validation in the editor and below it; returns true for a valid spec. */
function show({ problems, warnings, summary }) {
  const all = [...problems.map(hinted), ...warnings.map((warning) => ({ ...split(warning), severity: "warning" }))];
  const isOwn = ({ file }) => !file || file === state.file;
  spec.show(all.map((message) => (isOwn(message) ? message : { ...message, position: null, text: `${message.file}: ${message.text}` })));
  const rows = all.map((message) => row(message.severity, isOwn(message) ? message.position : null, isOwn(message) ? message.text : `${message.file}: ${message.text}`));
  if (!problems.length) rows.push(row("good", null, summary));
  byId("messages").replaceChildren(...rows);
  return !problems.length;
}

/** Returns the row of a message; one with a position leads to it. */
function row(kind, position, text) {
  const element = document.createElement(position ? "button" : "div");
  element.className = `message ${kind}`;
  const where = element.appendChild(document.createElement("span"));
  where.className = "where";
  where.textContent = position ? position.join(":") : { good: "✓", error: "✗" }[kind] ?? "!";
  element.appendChild(document.createElement("span")).textContent = text;
  if (position) element.addEventListener("click", () => spec.go(position));
  return element;
}

function status(text, isError = false) {
  Object.assign(byId("status"), { textContent: text, title: "" });
  byId("bar").className = isError ? "error" : "";
}

function working(yes) {
  state.running = yes;
  byId("stop").disabled = !yes;
  byId("progress").classList.toggle("active", yes);
}

/** Returns the files that the spec may read, with the spec itself. */
function files() {
  const all = new Map(Object.entries(data.files).map(([name, text]) => [name, utf8.encode(text)]));
  return all.set(state.file, utf8.encode(spec.text));
}

const number = (x) => String(Number(x.toPrecision(4)));

/** Validates the spec, and runs it if `runs` is set and it is valid. */
async function execute(runs) {
  clearTimeout(state.timer);
  const change = (state.changed += 1);
  const page = "run.html";
  const words = runs ? ["run", state.file, String(LIMIT), page] : ["check", state.file];
  let [at, ended, valid] = ["no time", null, null];
  const onLine = (line) => {
    if (change !== state.changed) return;
    if (line.problems) {
      valid = show(line);
      byId("frames").classList.toggle("old", !valid);
      status(valid ? "Running …" : "Not run: the spec has errors. The picture is that of the last run.", !valid);
    } else if (line.stop) {
      at = `t = ${number(line.time)} s`;
      byId("progress").value = line.time / line.stop;
      status(`Running: ${at} of ${number(line.stop)} s`);
    } else ended = line;
  };
  const why = () => valid === null
    ? `the spec could not be read within ${LIMIT + PATIENCE} s`
    : `no end within ${LIMIT + PATIENCE} s of computing, the limit here; it had reached ${at}`;
  byId("progress").value = 0;
  working(true);
  const begun = performance.now();
  try {
    const written = await engine.run(words, files(), [page], onLine, { seconds: LIMIT + PATIENCE, why });
    if (change !== state.changed) return;
    if (written.has(page)) picture(new TextDecoder().decode(written.get(page)));
    if (ended) {
      const seconds = number((performance.now() - begun) / 1000);
      const failure = ended.failure && `The run ${written.has(page) ? "is incomplete" : "cannot start"}: ${ended.failure}`;
      status(failure ?? `${ended.rows} rows, computed in ${seconds} s`, Boolean(failure));
      byId("status").title = ended.diagnostics;
    } else if (valid) status("Valid; Run makes its picture.");
  } catch (error) {
    if (change !== state.changed) return;
    const stopped = error instanceof Stopped;
    status(stopped ? `Stopped: ${error.message}.` : `The program crashed and was started anew: ${error.message}`, true);
  } finally {
    if (change === state.changed) working(false);
  }
}

const run = () => execute(true);

/** Shows a run's page in place of the last one once it is drawn, and plays it. */
function picture(html) {
  byId("empty").hidden = true;
  const [next, ...others] = [document.createElement("iframe"), ...byId("frames").querySelectorAll("iframe")];
  others.filter((frame) => frame.classList.contains("next")).forEach((frame) => frame.remove());
  next.title = "Run";
  next.className = "next";
  next.addEventListener("load", () => {
    if (!next.contentDocument?.body?.childElementCount) return;
    const inside = (selector) => next.contentDocument.querySelector(selector);
    if (inside("#craft details")) inside("#craft details").open = false;
    next.classList.remove("next");
    byId("frames").classList.remove("old");
    others.forEach((frame) => frame.remove());
    inside("#play")?.click();
    if (!performance.getEntriesByName("motion").length) performance.mark("motion");
  });
  next.srcdoc = html;
  byId("frames").append(next);
}

/** Called for a change of the text by the user. */
function changed() {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => execute(byId("auto").checked), PAUSE);
}

/** Opens a spec under the name of a file, and runs it. */
function open(file, text) {
  state.file = file;
  spec.open(text);
  byId("examples").value = file in data.files && data.files[file] === text ? file : "";
  byId("messages").replaceChildren();
  run();
}

/** Returns bytes through a stream. */
const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** Returns an address with the spec in its fragment. */
async function address() {
  const bytes = await through(utf8.encode(spec.text), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const code = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${location.href.split("#")[0]}#file=${encodeURIComponent(state.file)}&spec=${code}`;
}

/** Opens the spec of the address: one in its fragment, or an example by its name. */
async function fromAddress() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const file = fragment.get("file");
  try {
    if (fragment.has("spec")) {
      const text = atob(fragment.get("spec").replaceAll("-", "+").replaceAll("_", "/"));
      const bytes = await through(Uint8Array.from(text, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
      return open(file ?? "spec.toml", new TextDecoder().decode(bytes));
    }
  } catch {
    open(FIRST, data.files[FIRST]);
    return status("The address has no readable spec; this is an example.", true);
  }
  const name = file in data.files ? file : FIRST;
  open(name, data.files[name]);
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([spec.text], { type: "application/toml" }));
  link.download = state.file.split("/").pop();
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function share() {
  const link = await address();
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link);
    status("The address with the spec is copied.");
  } catch {
    status("The address of this page now contains the spec.");
  }
}

function divide(x) {
  const { left, width } = document.querySelector("main").getBoundingClientRect();
  byId("left").style.setProperty("--width", `${Math.max(15, Math.min(85, (100 * (x - left)) / width))}%`);
}

function begin() {
  const groups = Map.groupBy(data.examples, ({ folder }) => folder);
  byId("examples").append(new Option("…", "", false, false));
  byId("examples").firstChild.hidden = true;
  for (const [folder, examples] of groups) {
    const parent = folder ? byId("examples").appendChild(document.createElement("optgroup")) : byId("examples");
    if (folder) parent.label = folder;
    parent.append(...examples.map(({ file, name }) => new Option(name, file)));
  }
  byId("examples").addEventListener("change", ({ target }) => {
    history.replaceState(null, "", `${location.href.split("#")[0]}#file=${target.value}`);
    open(target.value, data.files[target.value]);
  });
  byId("run").addEventListener("click", run);
  byId("stop").addEventListener("click", () => engine.stop("the run was ended by you"));
  byId("save").addEventListener("click", save);
  byId("share").addEventListener("click", share);
  for (const name of ["spec", "run"]) {
    byId(`tab-${name}`).addEventListener("click", () => {
      document.querySelector("main").dataset.shown = name;
      for (const other of ["spec", "run"]) byId(`tab-${other}`).ariaSelected = String(other === name);
    });
  }
  const divider = byId("divider");
  divider.addEventListener("pointerdown", (event) => divider.setPointerCapture(event.pointerId));
  divider.addEventListener("pointermove", (event) => divider.hasPointerCapture(event.pointerId) && divide(event.clientX));
  divider.addEventListener("keydown", ({ key }) => {
    const by = { ArrowLeft: -20, ArrowRight: 20 }[key];
    if (by) divide(divider.getBoundingClientRect().left + by);
  });
  addEventListener("hashchange", fromAddress);
  fromAddress();
  warm();
}

/** For tests, and for the console. */
globalThis.playground = { engine, spec, state, open, run };
begin();
