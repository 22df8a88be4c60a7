// Programs in a worker: one at a time, each of which can be stopped.

/** Thrown by a program that was stopped, with the reason for the user. */
export class Stopped extends Error {}

export class Engine {
  #address;
  #worker = null;
  #reject = null;

  /**
   * @param {Promise<WebAssembly.Module>} module the program
   * @param {string} script the text of the worker's script
   */
  constructor(module, script) {
    this.module = module;
    this.#address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.#worker = new Worker(this.#address);
  }

  /**
   * Runs the program; one that is running is stopped first.
   *
   * @param {string[]} words its arguments
   * @param {Map<string, Uint8Array>} files its files
   * @param {string[]} wanted the files whose contents are returned
   * @param {(line: object) => void} onLine is called with each line of its output, read as JSON
   * @param {{seconds: number, why: () => string}} patience after this time it is stopped for this reason
   * @returns {Promise<Map<string, Uint8Array>>} the wanted files that it has written
   */
  async run(words, files, wanted, onLine, { seconds, why }) {
    this.stop("replaced by another run");
    const module = await this.module;
    this.stop("replaced by another run");
    const worker = (this.#worker ??= new Worker(this.#address));
    const timer = setTimeout(() => this.stop(why()), 1000 * seconds);
    try {
      return await new Promise((resolve, reject) => {
        this.#reject = reject;
        const crashed = (text) => {
          reject(new Error(text));
          this.#end();
        };
        worker.onerror = (event) => crashed(event.message);
        worker.onmessage = ({ data }) => {
          if (data.line !== undefined) onLine(JSON.parse(data.line));
          else if (data.crash) crashed(data.crash);
          else resolve(data.results);
        };
        worker.postMessage({ module, words, files, wanted });
      });
    } finally {
      clearTimeout(timer);
      if (this.#worker === worker) this.#reject = null;
    }
  }

  /** Stops the program that is running. */
  stop(reason) {
    if (!this.#reject) return;
    const reject = this.#reject;
    this.#end();
    reject(new Stopped(reason));
  }

  #end() {
    this.#worker?.terminate();
    this.#worker = this.#reject = null;
  }
}
