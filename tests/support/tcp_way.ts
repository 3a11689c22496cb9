/**
 * A port of this process that leads to another one. While it is cut, connections stay open and
 * nothing arrives.
 */
export class TcpWay implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #port: number;
  #open: Promise<void> = Promise.resolve();
  #heal: () => void = () => {};

  constructor(port: number) {
    this.#port = port;
    void this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  cut(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#open = promise;
    this.#heal = resolve;
  }

  heal(): void {
    this.#heal();
  }

  [Symbol.dispose](): void {
    this.heal();
    this.#listener.close();
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) {
      Deno.connect({ hostname: "127.0.0.1", port: this.#port }).then(
        (far) => void Promise.allSettled([this.#carry(near, far), this.#carry(far, near)]),
        // The node is not there yet: the other one tries again.
        () => near.close(),
      );
    }
  }

  async #carry(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        await this.#open;
        controller.enqueue(chunk);
      },
    });
    await from.readable.pipeThrough(gate).pipeTo(to.writable);
  }
}
