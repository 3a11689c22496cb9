/**
 * A client that does everything right and expects to be served, always: it calls again as soon as
 * it was answered.
 */

export class HonestClient {
  readonly failures: string[] = [];
  #served = 0;
  #slowestMs = 0;
  #stopping = false;
  readonly #running: Promise<void>;
  readonly #client: Deno.HttpClient;

  private constructor(origin: string, cert: string) {
    this.#client = Deno.createHttpClient({ caCerts: [cert] });
    this.#running = this.#run(`${origin}/health`);
  }

  static async start(
    server: { origin: string; certificate: { cert: string } },
  ): Promise<HonestClient> {
    const client = new HonestClient(server.origin, server.certificate.cert);
    // wait: until it has been served once, so that it is there before what is to disturb it
    while (client.#served === 0 && client.failures.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return client;
  }

  async stop(): Promise<{ served: number; slowestMs: number; failures: readonly string[] }> {
    this.#stopping = true;
    await this.#running;
    this.#client.close();
    return { served: this.#served, slowestMs: this.#slowestMs, failures: this.failures };
  }

  async #run(url: string): Promise<void> {
    while (!this.#stopping) {
      const started = performance.now();
      try {
        const response = await fetch(url, {
          client: this.#client,
          signal: AbortSignal.timeout(5_000),
        });
        const text = await response.text();
        if (text !== '{"status":"ok"}') throw new Error(`answered ${response.status} ${text}`);
        this.#served++;
      } catch (error) {
        this.failures.push(`${error} after ${this.#served} calls`);
        return;
      }
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - started);
      // wait: a call every few milliseconds is enough to notice, and leaves the machine to the
      // attackers
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
