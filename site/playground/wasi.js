// Runs a program of WebAssembly with WASI (preview 1): its files are in memory, its standard output
// is passed on line by line.

const [SUCCESS, BADF, EXIST, INVAL, ISDIR, NOENT, NOSYS, NOTDIR] = [0, 8, 20, 28, 31, 44, 52, 54];
const [CREATE, DIRECTORY, EXCLUSIVE, TRUNCATE] = [1, 2, 4, 8];
const [CHARACTERS, FOLDER, FILE] = [2, 3, 4];
const ROOT = 3; // the first descriptor after those of the standard streams

/** Thrown to end a program with its exit code. */
class Exit extends Error {
  constructor(code) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

/** Returns a path without "." and "..", relative to the root. */
export function normal(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/**
 * Runs a program to its end.
 *
 * @param {WebAssembly.Module} module the program
 * @param {string[]} words its arguments, without its name
 * @param {Map<string, Uint8Array>} files its files by path, which it changes
 * @param {(line: string) => void} onLine is called with each line of its standard output
 * @returns {{code: number, crash: string}} its exit code, and the last words of one that crashed
 */
export async function execute(module, words, files, onLine) {
  const out = { 1: "", 2: "" };
  const utf8 = { 1: new TextDecoder(), 2: new TextDecoder() };
  let memory;
  const functions = wasi(words, files, () => memory, (fd, bytes) => {
    out[fd] += utf8[fd].decode(bytes, { stream: true });
    if (fd !== 1) return;
    const lines = out[1].split("\n");
    out[1] = lines.pop();
    lines.forEach(onLine);
  });
  const missing = { get: (known, name) => known[name] ?? (() => NOSYS), has: () => true };
  try {
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: new Proxy(functions, missing) });
    memory = instance.exports.memory;
    instance.exports._start();
  } catch (error) {
    if (error instanceof Exit) return { code: error.code, crash: "" };
    return { code: 134, crash: out[2].trim() || String(error) };
  }
  return { code: 0, crash: "" };
}

/** Returns the functions of WASI that Rust's standard library calls in a program of one thread. */
function wasi(words, files, memoryOf, write) {
  const data = () => new DataView(memoryOf().buffer);
  const bytes = (at, n) => new Uint8Array(memoryOf().buffer, at, n);
  const u32 = (at, value) => data().setUint32(at, value, true);
  const u64 = (at, value) => data().setBigUint64(at, BigInt(value), true);
  const argv = ["program", ...words].map((word) => new TextEncoder().encode(`${word}\0`));
  const open = new Map([[ROOT, { path: "", folder: true }]]);
  const isFolder = (path) => path === "" || [...files.keys()].some((name) => name.startsWith(`${path}/`));
  const path = (fd, at, n) => normal(`${open.get(fd)?.path ?? ""}/${new TextDecoder().decode(bytes(at, n))}`);
  // The address and length of each part of a vector of buffers.
  const parts = (at, n) => Array.from({ length: n }, (_, k) => [0, 4].map((offset) => data().getUint32(at + 8 * k + offset, true)));
  const stat = (at, kind, size) => {
    bytes(at, 64).fill(0);
    data().setUint8(at + 16, kind);
    u64(at + 24, 1);
    u64(at + 32, size);
    return SUCCESS;
  };
  // Writes to the place of a file, which grows.
  const put = (file, from) => {
    const old = files.get(file.path);
    const end = file.at + from.length;
    if (!file.room || file.room.length < end) {
      const room = new Uint8Array(Math.max(2 * end, 4096));
      room.set(old);
      file.room = room;
    }
    file.room.set(from, file.at);
    files.set(file.path, file.room.subarray(0, Math.max(end, old.length)));
    file.at = end;
  };
  return {
    args_sizes_get(count, size) {
      u32(count, argv.length);
      u32(size, argv.reduce((sum, word) => sum + word.length, 0));
      return SUCCESS;
    },
    args_get(pointers, at) {
      argv.forEach((word, k) => {
        u32(pointers + 4 * k, at);
        bytes(at, word.length).set(word);
        at += word.length;
      });
      return SUCCESS;
    },
    environ_sizes_get(count, size) {
      u32(count, 0);
      u32(size, 0);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    clock_time_get(id, _precision, at) {
      u64(at, Math.round((id === 0 ? Date.now() : performance.now()) * 1e6));
      return SUCCESS;
    },
    random_get(at, n) {
      for (let k = 0; k < n; k += 65536) crypto.getRandomValues(bytes(at + k, Math.min(65536, n - k)));
      return SUCCESS;
    },
    proc_exit(code) {
      throw new Exit(code);
    },
    sched_yield: () => SUCCESS,
    fd_prestat_get(fd, at) {
      if (fd !== ROOT) return BADF;
      u32(at, 0);
      u32(at + 4, 1);
      return SUCCESS;
    },
    fd_prestat_dir_name(fd, at) {
      bytes(at, 1)[0] = "/".charCodeAt(0);
      return fd === ROOT ? SUCCESS : BADF;
    },
    fd_fdstat_get(fd, at) {
      const of = open.get(fd);
      if (!of && fd > 2) return BADF;
      bytes(at, 24).fill(0);
      data().setUint8(at, of ? (of.folder ? FOLDER : FILE) : CHARACTERS);
      u64(at + 8, 0xffffffff);
      u64(at + 16, 0xffffffff);
      return SUCCESS;
    },
    fd_filestat_get(fd, at) {
      const of = open.get(fd);
      if (!of) return fd > 2 ? BADF : stat(at, CHARACTERS, 0);
      return of.folder ? stat(at, FOLDER, 0) : stat(at, FILE, files.get(of.path).length);
    },
    path_filestat_get(fd, _flags, at, n, to) {
      const name = path(fd, at, n);
      if (files.has(name)) return stat(to, FILE, files.get(name).length);
      return isFolder(name) ? stat(to, FOLDER, 0) : NOENT;
    },
    // There are no links.
    path_readlink: (fd, at, n) => (files.has(path(fd, at, n)) || isFolder(path(fd, at, n)) ? INVAL : NOENT),
    path_open(fd, _flags, at, n, how, _rights, _inheriting, _fdflags, to) {
      const name = path(fd, at, n);
      const folder = isFolder(name);
      if (how & DIRECTORY && !folder) return files.has(name) ? NOTDIR : NOENT;
      if (how & EXCLUSIVE && files.has(name)) return EXIST;
      if (!folder && !files.has(name) && !(how & CREATE)) return NOENT;
      if (folder && how & (CREATE | TRUNCATE)) return ISDIR;
      if (!folder && (!files.has(name) || how & TRUNCATE)) files.set(name, new Uint8Array());
      const next = Math.max(...open.keys()) + 1;
      open.set(next, { path: name, folder, at: 0 });
      u32(to, next);
      return SUCCESS;
    },
    fd_close: (fd) => (open.delete(fd) || fd <= 2 ? SUCCESS : BADF),
    fd_read(fd, vector, count, read) {
      const of = open.get(fd);
      if (of?.folder) return ISDIR;
      let total = 0;
      for (const [at, n] of of ? parts(vector, count) : []) {
        const from = files.get(of.path).subarray(of.at, of.at + n);
        bytes(at, n).set(from);
        of.at += from.length;
        total += from.length;
      }
      u32(read, total);
      return SUCCESS;
    },
    fd_write(fd, vector, count, written) {
      const of = open.get(fd);
      if (of?.folder) return ISDIR;
      if (!of && fd !== 1 && fd !== 2) return BADF;
      let total = 0;
      for (const [at, n] of parts(vector, count)) {
        if (of) put(of, bytes(at, n));
        else write(fd, bytes(at, n).slice());
        total += n;
      }
      u32(written, total);
      return SUCCESS;
    },
    fd_seek(fd, offset, whence, to) {
      const of = open.get(fd);
      if (!of || of.folder) return BADF;
      const from = [0, of.at, files.get(of.path).length][whence];
      const at = from + Number(offset);
      if (!(at >= 0)) return INVAL;
      of.at = at;
      u64(to, at);
      return SUCCESS;
    },
    fd_readdir(fd, at, room, cookie, used) {
      const of = open.get(fd);
      if (!of?.folder) return NOTDIR;
      const prefix = of.path && `${of.path}/`;
      const below = [...files.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
      const names = [...new Set(below.map((name) => name.split("/")[0]))];
      const list = names.slice(Number(cookie)).map((name, k) => {
        const text = new TextEncoder().encode(name);
        const entry = new Uint8Array(24 + text.length);
        const view = new DataView(entry.buffer);
        view.setBigUint64(0, cookie + BigInt(k + 1), true);
        view.setUint32(16, text.length, true);
        view.setUint8(20, below.includes(name) ? FILE : FOLDER);
        entry.set(text, 24);
        return entry;
      });
      let n = 0;
      for (const entry of list) {
        const part = entry.subarray(0, room - n);
        bytes(at + n, part.length).set(part);
        n += part.length;
      }
      u32(used, n);
      return SUCCESS;
    },
  };
}
