/**
 * Places of sockets among those of their address. A socket that a member's session carries does not count for its address, so an
 * office behind one address needs places only for those who log in. A session carries few, so that one member cannot hold a crowd
 * of sockets.
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
    this.#places.add(place);
    place.carriedBy(this);
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

export class SocketPlace {
  readonly #count: () => () => void;
  readonly #sessions = new Set<SessionSockets>();
  #leave: (() => void) | undefined;
  #isClosed = false;

  /** It is counted already, until `leave` is called; `count` counts it again, whatever the limits are. */
  constructor(leave: () => void, count: () => () => void) {
    this.#leave = leave;
    this.#count = count;
  }

  carriedBy(session: SessionSockets): void {
    if (this.#isClosed) return session.closed(this);
    this.#sessions.add(session);
    this.#leave?.();
    this.#leave = undefined;
  }

  droppedBy(session: SessionSockets): void {
    if (this.#sessions.delete(session) && this.#sessions.size === 0) this.#leave ??= this.#count();
  }

  /** The socket is gone. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.closed(this);
    this.#sessions.clear();
    this.#leave?.();
    this.#leave = undefined;
  }
}
