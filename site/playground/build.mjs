// Builds the page of the playground: node build.mjs PROGRAM.wasm FOLDER
//
// FOLDER/index.html is one file with everything in it: the program, compressed; the editor; the
// examples with the files that they read. FOLDER/licences.txt has the licences of all parts.
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const [wasm, folder] = process.argv.slice(2);
const read = (name) => readFileSync(join(root, name), "utf8");

/** Bundles a script and returns its text, and the packages in it. */
async function bundled(name) {
  const result = await build({
    entryPoints: [join(here, name)],
    absWorkingDir: join(root, "site"),
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: "es2022",
    legalComments: "none",
  });
  const modules = Object.keys(result.metafile.inputs).map((input) => input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return { text: result.outputFiles[0].text, packages: [...new Set(modules.filter(Boolean))] };
}

/** Returns the names of text files below a folder of the project. */
function below(name) {
  return readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(toml|csv)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"))
    .sort();
}

// Specs that run by themselves: parts that others include or mount have no motion, studies no bodies.
const files = Object.fromEntries(below("examples").map((name) => [name, read(name)]));
const isSpec = (text) => /^name\s*=/m.test(text) && /^\[(body|ancf_beam|mount|controller)\b|^include\b/m.test(text) && !/^model\s*=/m.test(text);
const examples = Object.keys(files)
  .filter((name) => isSpec(files[name]))
  .map((file) => ({ file, folder: file.split("/").slice(1, -1).join("/"), name: file.split("/").pop().replace(/\.toml$/, "") }))
  .sort((a, b) => a.folder.localeCompare(b.folder) || a.name.localeCompare(b.name));

const [main, worker] = await Promise.all(["main.js", "worker.js"].map(bundled));
// Inside <script> only "</" and "<!" could end a text.
const inert = (text) => text.replaceAll("</", "<\\/").replaceAll("<!", "\\x3c!");
const data = JSON.stringify({ schema: JSON.parse(read("docs/spec.schema.json")), files, examples });
const parts = {
  css: readFileSync(join(here, "page.css"), "utf8"),
  data: data.replaceAll("<", "\\u003c"),
  worker: inert(worker.text),
  program: gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"),
  script: inert(main.text),
};
const html = readFileSync(join(here, "page.html"), "utf8").replace(/{{(\w+)}}/g, (_, name) => parts[name]);
const licence = (name) => {
  const of = join(root, "site/node_modules", name);
  const file = readdirSync(of).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name}\n\n${readFileSync(join(of, file), "utf8")}`;
};
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "index.html"), html);
writeFileSync(join(folder, "licences.txt"), [read("THIRD-PARTY-LICENSES"), ...main.packages.map(licence)].join("\n\n----\n\n"));
const size = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
const page = Buffer.from(html);
console.log(`${folder}/index.html: ${size(page.length)}; compressed by gzip ${size(gzipSync(page).length)}, by Brotli ${size(brotliCompressSync(page).length)}; ` +
  `the program ${size(readFileSync(wasm).length)}, the editor ${size(main.text.length)}; ${examples.length} examples`);
