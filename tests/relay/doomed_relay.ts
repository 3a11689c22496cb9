/**
 * A relay in a process of its own, on a file: it can be killed and started again, and its memory is
 * nobody else's.
 */
import { linesOf } from "../support/http2/server_process.ts";
import { createCertificate, freePort, type TestCertificate } from "../support/mod.ts";
import { residentBytes } from "../support/process_memory.ts";

const script = new URL("doomed_relay_process.ts", import.meta.url).pathname;

export class DoomedRelay implements AsyncDisposable {
  readonly certificate: TestCertificate;
  readonly #folder: string;
  #child: Deno.ChildProcess | undefined;
  #lines: AsyncIterator<string> | undefined;
  readonly quicPort = freePort();
  readonly grpcPort = freePort();

  private constructor(folder: string, certificate: TestCertificate) {
    this.#folder = folder;
    this.certificate = certificate;
  }

  static async create(): Promise<DoomedRelay> {
    const relay = new DoomedRelay(await Deno.makeTempDir(), await createCertificate());
    await Deno.writeTextFile(`${relay.#folder}/cert.pem`, relay.certificate.cert);
    await Deno.writeTextFile(`${relay.#folder}/key.pem`, relay.certificate.key);
    await relay.start();
    return relay;
  }

  /** On the ports that it had before. */
  async start(): Promise<void> {
    const args = ["run", "-A", "--no-check", "--quiet", "--unstable-net", script, this.#folder];
    const ports = [this.quicPort, this.grpcPort].map(String);
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...args, ...ports],
      stdin: "null",
      stdout: "piped",
    })
      .spawn();
    this.#lines = linesOf(this.#child.stdout);
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error("The relay ended before it listened");
  }

  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.status;
    await this.#lines?.return?.();
  }

  /** Of the whole process, as the system counts it. */
  memoryBytes(): number {
    return this.#child === undefined ? NaN : residentBytes(this.#child.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await Deno.remove(this.#folder, { recursive: true });
  }
}
