// The worker of the page: runs one program after another, and passes their lines on.
import { execute } from "./wasi.js";

self.onmessage = async ({ data: { module, words, files, wanted } }) => {
  const { code, crash } = await execute(module, words, files, (line) => self.postMessage({ line }));
  const results = new Map(wanted.filter((name) => files.has(name)).map((name) => [name, files.get(name).slice()]));
  self.postMessage({ code, crash, results }, [...results.values()].map((bytes) => bytes.buffer));
};
