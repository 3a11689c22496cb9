/** Events of the SDK as lines for people. */
import { quoted } from "../../../../proto/mod.ts";
import type { ClientEvent, MissedEvents } from "static-sdk";

/** Returns undefined for what a reader of the channel sees without being told. */
export function eventInWords(event: ClientEvent | MissedEvents): string | undefined {
  switch (event.type) {
    case "ready":
    case "names_changed":
      return undefined;
    case "connected":
      return `Connected over ${event.transport}`;
    case "disconnected":
      return `Disconnected${because(event.error)}`;
    case "reconnecting":
      return `Trying again${because(event.error)}`;
    case "member_joined":
      return `${claim(event.member)} joined`;
    case "member_left":
      return `${claim(event.member)} left`;
    case "member_removed":
      return `${claim(event.member)} was removed by ${event.by}`;
    case "look_alike":
      return `${claim(event.member)} looks like ${
        claim(event.resembles)
      }: it may want to pass for it`;
    case "key_changed":
      return `${quoted(event.identity)} is here with another key${
        event.trusted ? ", brought in by an owner" : ""
      }`;
    case "post_quantum_lost":
      return `${
        event.because ?? "An agent"
      } came in without post-quantum keys: from now on recordings of this channel may be opened by a later quantum computer`;
    case "gap":
      return `${event.messages} messages are lost: the relay had them for too long, or had too many`;
    case "ended":
      return `The channel has ended${because(event.error)}`;
    default:
      return `${event.type.replaceAll("_", " ")}${"error" in event ? because(event.error) : ""}`;
  }
}

function claim(
  { agentId, identity }: { readonly agentId: string; readonly identity: string },
): string {
  return `${agentId}, which calls itself ${quoted(identity, { max: 64 })},`;
}

function because(error: unknown): string {
  return error instanceof Error ? `: ${error.message}` : "";
}
