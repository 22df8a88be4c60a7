// Fields of a spec by the JSON schema: what may be written at a place of its text.

/** Returns the keys of a TOML key such as `body."my arm".beam`. */
export function keysOf(text) {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|[\w-]+/g)].map(([all, double, single]) => double ?? single ?? all);
}

/** Returns the path of the table whose header is the last one above a line, with its keys. */
function tableAbove(lines, row) {
  for (let k = row; k >= 0; k--) {
    const header = lines[k].match(/^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(#.*)?$/);
    if (header) return keysOf(header[1]);
  }
  return [];
}

/** Returns a line without its comment and its strings' contents, and the depth of the brackets at its end. */
function opened(line) {
  const plain = line.replace(/"[^"]*"|'[^']*'/g, (text) => "_".repeat(text.length)).replace(/#.*/, "");
  const open = [];
  for (let k = 0; k < plain.length; k++) {
    if ("{[".includes(plain[k])) open.push(k);
    else if ("}]".includes(plain[k])) open.pop();
  }
  return { plain, open };
}

export class Schema {
  #root;

  /** @param {object} root the JSON schema of a spec */
  constructor(root) {
    this.#root = root;
  }

  /** Returns the alternatives of a schema: references are followed, null is left out. */
  #alternatives(schema) {
    if (!schema) return [];
    const { $ref, anyOf, oneOf, allOf, ...own } = schema;
    if ($ref) return this.#alternatives(this.#root.$defs[$ref.split("/").pop()]).map((of) => ({ ...of, description: own.description ?? of.description }));
    const parts = anyOf ?? oneOf ?? allOf;
    const rest = parts ? parts.flatMap((part) => this.#alternatives(part)) : [own];
    const all = parts && own.properties ? [own, ...rest] : rest;
    return all.filter((of) => of.type !== "null");
  }

  /** Returns the alternatives of the schema at a path of keys. */
  #at(path) {
    let found = this.#alternatives(this.#root);
    for (const key of path) {
      found = found.flatMap((of) => {
        const list = of.items ? this.#alternatives(of.items) : [];
        const table = [of, ...list].find((one) => one.properties?.[key] || typeof one.additionalProperties === "object");
        return this.#alternatives(table?.properties?.[key] ?? (table?.additionalProperties || null));
      });
    }
    return found;
  }

  /** Returns the fields of the table at a path, as `[name, schema]`. */
  fields(path) {
    const tables = this.#at(path).flatMap((of) => [of, ...(of.items ? this.#alternatives(of.items) : [])]);
    const fields = new Map(tables.flatMap((of) => Object.entries(of.properties ?? {})));
    return [...fields].map(([name, schema]) => [name, schema]);
  }

  /** Returns true if the entries of a table have names of their own. */
  #isMap(path) {
    return this.#at(path).some((of) => typeof of.additionalProperties === "object");
  }

  /** Returns true if a field is a table, or a list of tables. */
  #isTable(schema) {
    return this.#alternatives(schema).some((of) => of.properties || typeof of.additionalProperties === "object");
  }

  /** Returns the words that a field may have, as `[word, description]`. */
  words(path) {
    return this.#at(path).flatMap((of) => {
      const inner = of.items ? this.#alternatives(of.items) : [];
      return [of, ...inner].flatMap((one) => {
        if (one.type === "boolean") return [["true", ""], ["false", ""]];
        const words = one.const !== undefined ? [one.const] : (one.enum ?? []);
        return words.map((word) => [JSON.stringify(word), one.description ?? ""]);
      });
    });
  }

  /** Returns the type of a field for a reader, such as "number" or "array of 3". */
  typeOf(schema) {
    const types = this.#alternatives(schema).map((of) => {
      if (of.const !== undefined || of.enum) return "word";
      if (of.properties || of.additionalProperties) return "table";
      const type = [of.type].flat().find((one) => one !== "null") ?? "";
      return type === "array" && of.minItems === of.maxItems && of.minItems ? `array of ${of.minItems}` : type;
    });
    return [...new Set(types)].filter(Boolean).join(" or ");
  }

  /** Returns the description of the field at a path, and its type. */
  describe(path) {
    const parent = this.fields(path.slice(0, -1)).find(([name]) => name === path.at(-1));
    const schema = parent?.[1] ?? this.#at(path)[0];
    if (!schema) return null;
    const text = schema.description ?? this.#alternatives(schema)[0]?.description ?? "";
    return { name: path.at(-1), text, type: parent ? this.typeOf(schema) : "table" };
  }

  /** Returns the path of the key at an offset of a line, or null if there is no key. */
  pathAt(lines, row, column) {
    const line = lines[row];
    const header = line.match(/^\s*\[{1,2}([^[\]]+)\]/);
    const from = line.slice(0, column).search(/[\w-]*$/);
    const word = line.slice(from).match(/^[\w-]+/)?.[0];
    if (!word) return null;
    if (header) {
      const before = keysOf(line.slice(line.indexOf("[") + 1, from));
      return column <= line.indexOf("]") ? [...before.filter(Boolean), word] : null;
    }
    if (!/^[\w-]+\s*(=|\.)/.test(line.slice(from))) return null;
    return [...this.#context(lines, row, from).path, word];
  }

  /** Returns the path of the table that surrounds a place, and the text since its last comma. */
  #context(lines, row, column) {
    // Brackets that begin at an earlier line, back to one that begins with a field.
    let first = row;
    const isField = (line) => /^\s*[\w."'-]+\s*=/.test(line) || /^\s*\[{1,2}[^[\]]+\]{1,2}\s*(#.*)?$/.test(line);
    while (first > 0 && first > row - 200 && !isField(lines[first]) && lines[first].trim() !== "") first--;
    if (!isField(lines[first])) first = row;
    const text = [...lines.slice(first, row).map((line) => line.replace(/#.*/, "")), lines[row].slice(0, column)].join(" ");
    const { plain, open } = opened(text);
    const path = tableAbove(lines, row);
    let from = 0;
    for (const at of open) {
      const key = text.slice(from, at).match(/([\w."'-]+)\s*=\s*$/);
      if (key) path.push(...keysOf(key[1]));
      from = at + 1;
    }
    const inBraces = open.length === 0 || plain[open.at(-1)] === "{";
    return { path, inBraces, since: text.slice(Math.max(from, inBraces ? plain.lastIndexOf(",") + 1 : 0)) };
  }

  /**
   * Returns the completions at a place of a text.
   *
   * @param {string} text the spec
   * @param {number} at the offset of the cursor
   * @returns {{from: number, options: object[]} | null} options as CodeMirror has them
   */
  complete(text, at) {
    const lines = text.split("\n");
    const row = text.slice(0, at).split("\n").length - 1;
    const begin = text.lastIndexOf("\n", at - 1) + 1;
    const column = at - begin;
    const line = lines[row].slice(0, column);
    if (/^[^"']*#/.test(line)) return null;
    const header = line.match(/^\s*\[{1,2}((?:[\w-]+|"[^"]*"|\.)*)$/);
    if (header) return this.#headers(text, header[1], at);
    const { path, inBraces, since } = this.#context(lines, row, column);
    const value = since.match(/(?:^|[\s,{])([\w."'-]+)\s*=\s*(\[?[^=]*?)("?[\w.-]*)$/);
    if (value || !inBraces) {
      const keys = value && inBraces ? keysOf(value[1]) : [];
      const word = line.match(/"?[\w.-]*$/)[0];
      return this.#values(text, [...path, ...keys], word, at);
    }
    const key = since.match(/^\s*([\w.-]*)$/);
    if (!key) return null;
    const dot = key[1].lastIndexOf(".") + 1;
    const options = this.fields([...path, ...keysOf(key[1].slice(0, dot))]).map(([name, schema]) => this.#field(name, schema, " = "));
    return { from: at - key[1].length + dot, options };
  }

  #field(name, schema, after) {
    return { label: name, type: "property", detail: this.typeOf(schema), info: this.describeFirst(schema), apply: name + after };
  }

  /** Returns the description of a field, or else that of its type. */
  describeFirst(schema) {
    return schema.description ?? this.#alternatives(schema)[0]?.description ?? "";
  }

  #headers(text, written, at) {
    const dot = written.lastIndexOf(".") + 1;
    const path = keysOf(written.slice(0, dot));
    const tables = this.fields(path).filter(([, schema]) => this.#isTable(schema));
    const options = tables.map(([name, schema]) => this.#field(name, schema, this.#isMap([...path, name]) ? "." : ""));
    if (path.length && this.#isMap(path)) {
      const names = new Set([...text.matchAll(/^\s*\[{1,2}([^[\]]+)\]/gm)].map(([, header]) => keysOf(header)));
      const own = [...names].filter((keys) => keys.length > path.length && path.every((key, k) => keys[k] === key));
      options.push(...[...new Set(own.map((keys) => keys[path.length]))].map((label) => ({ label, type: "variable" })));
    }
    return { from: at - written.length + dot, options };
  }

  #values(text, path, word, at) {
    const words = this.words(path).map(([label, info]) => ({ label, info, type: "enum" }));
    if (!words.length && this.#at(path).some((of) => [of.type, of.items?.type].flat().includes("string"))) {
      const kinds = ["body", "frame", "joint", "contact", "wheel", "ancf_beam"];
      const names = [...text.matchAll(/^\s*\[([^[\]]+)\]/gm)].map(([, header]) => keysOf(header)).filter(([kind, name]) => kinds.includes(kind) && name);
      const unique = new Map(names.map(([kind, name]) => [name, kind]));
      words.push(...[...unique, ["world", "the inertial frame"]].map(([name, detail]) => ({ label: JSON.stringify(name), detail, type: "variable" })));
    }
    return words.length ? { from: at - word.length, options: words } : null;
  }
}
