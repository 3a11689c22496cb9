/**
 * Places of sockets among those of their address. A socket that a member's session carries does not count for its address, so an
 * office behind one address needs places only for those who log in. A session carries few, so that one member cannot hold a crowd
 * of sockets, and only one when many are open.
 */

/** An agent has two at most, and two more while it changes over to new ones. */
const maxSockets = 4;

/** The sockets of one session that has authenticated, until it ends. */
export class SessionSockets {
  readonly #places = new Set<SocketPlace>();
  #isOver = false;

  /** Of a socket that it carries already, and of one too many, nothing changes. */
  carry(place: SocketPlace): void {
    if (this.#isOver || this.#places.has(place) || this.#places.size >= maxSockets) return;
    if (place.carriedBy(this, this.#places.size)) this.#places.add(place);
  }

  closed(place: SocketPlace): void {
    this.#places.delete(place);
  }

  /** Sockets that are still open count for their addresses again. */
  end(): void {
    this.#isOver = true;
    for (const place of this.#places) place.droppedBy(this);
    this.#places.clear();
  }
}

/** Each returns a function that takes it back. */
export interface SocketCounts {
  /** Counts a socket for its address, whatever the limits are. */
  count(): () => void;
  /** Counts it as carried by a session that carries so many others, or returns undefined: it stays counted for its address. */
  carry(others: number): (() => void) | undefined;
}

export class SocketPlace {
  readonly #counts: SocketCounts;
  readonly #sessions = new Set<SessionSockets>();
  /** Takes back how it is counted now. */
  #leave: () => void;
  #isClosed = false;

  /** It is counted for its address already, until `leave` is called. */
  constructor(leave: () => void, counts: SocketCounts) {
    this.#leave = leave;
    this.#counts = counts;
  }

  /** Returns whether the session, which carries so many others, carries this one too from now on. */
  carriedBy(session: SessionSockets, others: number): boolean {
    if (this.#isClosed) return false;
    if (this.#sessions.size === 0) {
      const leave = this.#counts.carry(others);
      if (leave === undefined) return false;
      this.#countAs(leave);
    }
    this.#sessions.add(session);
    return true;
  }

  droppedBy(session: SessionSockets): void {
    if (this.#sessions.delete(session) && this.#sessions.size === 0) this.#countAs(this.#counts.count());
  }

  /** The socket is gone. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.closed(this);
    this.#sessions.clear();
    this.#countAs(() => {});
  }

  #countAs(leave: () => void): void {
    this.#leave();
    this.#leave = leave;
  }
}
