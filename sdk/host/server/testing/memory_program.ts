/**
 * A program and its session with an agent, in this process: what each writes, the other is given in
 * pieces.
 */
import { HostConnection } from "../../connection.ts";
import type { HeaderFields } from "../../fields.ts";
import { HostFrameReader } from "../../frames.ts";
import { holdAlone } from "../connecting.ts";
import type { AgentHandle } from "../agent_handle.ts";
import { HostSession } from "../session.ts";
import { type Actor, runtime } from "../../../../tests/support/scenario/stage.ts";

export interface Program {
  readonly connection: HostConnection;
  readonly session: HostSession;
  readonly events: readonly { readonly name: string; readonly fields: HeaderFields }[];
  /** Without a word, as when it is killed. */
  die(): void;
}

export function programOf({ manager }: Pick<Actor, "manager">): Program {
  return programWith(holdAlone(manager.client, manager));
}

export function programWith(held: AgentHandle): Program {
  const events: { name: string; fields: HeaderFields }[] = [];
  const reader = new HostFrameReader();
  const connection = new HostConnection({
    write: (bytes) => queueMicrotask(() => feed(bytes)),
    close: () => {},
    onEvent: (name, fields) => void events.push({ name, fields }),
  });
  const session = new HostSession({
    runtime,
    runtimeName: "test 1",
    pid: 1,
    held,
    write: (frame) => queueMicrotask(() => connection.receive(frame)),
    hangUp: () => queueMicrotask(() => connection.end()),
  });
  const feed = (bytes: Uint8Array): void => {
    for (const frame of reader.push(bytes)) session.receive(frame);
  };
  return { connection, session, events, die: () => session.end() };
}
