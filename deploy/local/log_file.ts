/** A part's log in the data directory, in two files so that it never grows without end: the present one and the one before. */

const maxBytes = 16 * 1024 * 1024;

export class LogFile {
  readonly #path: string;
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile;
  #bytes: number;

  constructor(path: string) {
    this.#path = path;
    this.#file = open(path);
    this.#bytes = this.#file.statSync().size;
  }

  write(line: string): void {
    if (this.#bytes >= maxBytes) this.#turn();
    let rest = this.#encoder.encode(`${line}\n`);
    this.#bytes += rest.length;
    while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
  }

  close(): void {
    this.#file.close();
  }

  #turn(): void {
    this.#file.close();
    Deno.renameSync(this.#path, `${this.#path}.1`);
    this.#file = open(this.#path);
    this.#bytes = 0;
  }
}

function open(path: string): Deno.FsFile {
  return Deno.openSync(path, { create: true, append: true, mode: 0o600 });
}
