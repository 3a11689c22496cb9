/**
 * A part's log in the data directory, in two files so that it never grows without end: the present
 * one and the one before. A disk that takes no more costs lines of the log and nothing else: the
 * parts go on.
 */

const maxBytes = 16 * 1024 * 1024;

export class LogFile {
  readonly #path: string;
  readonly #say: (text: string) => void;
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile;
  #bytes: number;
  #lostLines = 0;

  /** `say` is told when lines begin to be lost, and when they are written again. */
  constructor(path: string, say: (text: string) => void) {
    this.#path = path;
    this.#say = say;
    this.#file = open(path);
    this.#bytes = this.#file.statSync().size;
  }

  write(line: string): void {
    try {
      this.#append(line);
    } catch (error) {
      if (this.#lostLines++ > 0) return;
      const why = error instanceof Error ? error.message : String(error);
      return this.#say(
        `Cannot write to ${this.#path}: ${why}. Lines are lost until it can; is the disk full?`,
      );
    }
    if (this.#lostLines > 0) {
      this.#say(`${this.#path} is written again; ${this.#lostLines} lines were lost`);
    }
    this.#lostLines = 0;
  }

  close(): void {
    this.#file.close();
  }

  #append(line: string): void {
    if (this.#bytes >= maxBytes) this.#turn();
    // A line that was cut short is not continued.
    let rest = this.#encoder.encode(`${this.#lostLines > 0 ? "\n" : ""}${line}\n`);
    while (rest.length > 0) {
      const written = this.#file.writeSync(rest);
      this.#bytes += written;
      rest = rest.subarray(written);
    }
  }

  #turn(): void {
    try {
      Deno.renameSync(this.#path, `${this.#path}.1`);
    } catch (error) {
      // A turn that failed after this step left nothing here.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const fresh = open(this.#path);
    this.#file.close();
    this.#file = fresh;
    this.#bytes = 0;
  }
}

function open(path: string): Deno.FsFile {
  return Deno.openSync(path, { create: true, append: true, mode: 0o600 });
}
