/**
 * One agent's way to the relay, over UDP and through this process: datagrams are lost, late,
 * doubled and overtaken, or stop altogether, one way or both. Nothing of the kernel is needed, so
 * it works without root and where `tc netem` is missing.
 */
import type { Random } from "../support/mod.ts";

export interface Conditions {
  /** Of datagrams, each way. */
  readonly loss: number;
  /** Of datagrams that come twice. */
  readonly doubled: number;
  /** Each datagram takes between these; a wide range makes them overtake each other. */
  readonly delayMs: readonly [least: number, most: number];
  /** From the agent to the relay. */
  readonly up: boolean;
  /** From the relay to the agent. */
  readonly down: boolean;
}

export const fairWeather: Conditions = {
  loss: 0,
  doubled: 0,
  delayMs: [0, 0],
  up: true,
  down: true,
};

type Socket = Deno.DatagramConn;

export class Link implements Disposable {
  readonly #listener: Socket;
  readonly #relayPort: number;
  readonly #random: Random;
  /** One socket towards the relay for each socket of the agent. */
  readonly #ways = new Map<number, Socket>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #conditions: Conditions = fairWeather;
  lost = 0;
  carried = 0;

  constructor(relayPort: number, random: Random) {
    this.#listener = openSocket();
    this.#relayPort = relayPort;
    this.#random = random;
    void this.#carryUp();
  }

  get port(): number {
    return portOf(this.#listener.addr);
  }

  /** Conditions that are not named are those of a good network. */
  set(conditions: Partial<Conditions>): void {
    this.#conditions = { ...fairWeather, ...conditions };
  }

  [Symbol.dispose](): void {
    for (const socket of [this.#listener, ...this.#ways.values()]) socket.close();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #carryUp(): Promise<void> {
    for await (const [datagram, from] of this.#listener) {
      const way = this.#wayOf(portOf(from));
      if (this.#conditions.up) this.#carry(datagram, way, this.#relayPort);
      else this.lost++;
    }
  }

  #wayOf(agentPort: number): Socket {
    const known = this.#ways.get(agentPort);
    if (known !== undefined) return known;
    const way = openSocket();
    this.#ways.set(agentPort, way);
    void this.#carryDown(way, agentPort);
    return way;
  }

  async #carryDown(way: Socket, agentPort: number): Promise<void> {
    for await (const [datagram] of way) {
      if (this.#conditions.down) this.#carry(datagram, this.#listener, agentPort);
      else this.lost++;
    }
  }

  #carry(datagram: Uint8Array, over: Socket, port: number): void {
    const { loss, doubled, delayMs: [least, most] } = this.#conditions;
    if (loss > 0 && this.#random.chance(loss)) return void this.lost++;
    this.carried++;
    const copies = doubled > 0 && this.#random.chance(doubled) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const send = (): void =>
        // A port that nobody listens on any more is one more way to lose a datagram.
        void over.send(datagram, { transport: "udp", hostname: "127.0.0.1", port }).catch(() =>
          this.lost++
        );
      if (most === 0) send();
      else this.#later(least + this.#random.below(most - least + 1), send);
    }
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }
}

function openSocket(): Socket {
  return Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
}

function portOf(address: Deno.Addr): number {
  if (address.transport !== "udp") throw new Error(`Not an address of UDP: ${address.transport}`);
  return address.port;
}
