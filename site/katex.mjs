// Replaces the equations in the HTML files of a folder by what KaTeX renders: node katex.mjs FOLDER
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import katex from "katex";

const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };
let failed = 0;
for (const name of globSync("**/*.html", { cwd: process.argv[2] })) {
  const path = join(process.argv[2], name);
  const page = readFileSync(path, "utf8");
  const rendered = page.replace(/<(span|div) class="arithmatex">\\[([](.*?)\\[)\]]<\/\1>/gs, (_, tag, text) => {
    const equation = text.replace(/&[a-z#0-9]+;/g, (entity) => entities[entity] ?? entity);
    try {
      const html = katex.renderToString(equation, { displayMode: tag === "div", strict: "error" });
      return `<${tag} class="arithmatex">${html}</${tag}>`;
    } catch (error) {
      console.error(`${name}: ${error.message}`);
      failed = 1;
    }
  });
  if (rendered !== page) writeFileSync(path, rendered);
}
process.exit(failed);
