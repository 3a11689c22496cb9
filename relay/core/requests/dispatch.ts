/** From an envelope to its handler. */
import {
  type CallName,
  type ClientEnvelope,
  type ReplyBody,
  WireError,
} from "../../../proto/mod.ts";
import type { CoreSpan } from "../deps.ts";
import { authorize } from "./authorization.ts";
import type { TransportKind } from "../client_link.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker, Asker, CallHandler, CoreParts } from "./request_handler.ts";
import * as channel from "./channel_requests.ts";
import * as commit from "./commit_requests.ts";
import * as delivery from "./delivery_requests.ts";
import * as founding from "./founding_requests.ts";
import * as invite from "./invite_requests.ts";
import * as join from "./join_requests.ts";
import * as keyPackage from "./key_package_requests.ts";
import * as message from "./message_requests.ts";
import * as rejoin from "./rejoin_requests.ts";
import * as sessions from "./session_requests.ts";
import type { Session } from "../session/session.ts";

/** Answered before authentication too; see `open` in the table of calls. */
type OpenCall = "GetChallenge" | "Authenticate" | "ConfigureCover" | "Ping" | "EndSession";

const openHandlers: { readonly [Name in OpenCall]: CallHandler<Name, Asker> } = {
  GetChallenge: sessions.getChallenge,
  Authenticate: sessions.authenticate,
  ConfigureCover: sessions.configureCover,
  Ping: sessions.ping,
  EndSession: sessions.endSession,
};

const handlers: { readonly [Name in Exclude<CallName, OpenCall>]: CallHandler<Name> } = {
  RenewToken: sessions.renewToken,
  CreateChannel: channel.createChannel,
  ListChannels: channel.listChannels,
  CloseChannel: channel.closeChannel,
  ListMembers: channel.listMembers,
  LeaveChannel: channel.leaveChannel,
  UploadKeyPackage: keyPackage.uploadKeyPackage,
  AddMember: keyPackage.addMember,
  SendMessage: message.sendMessage,
  SendCommit: commit.sendCommit,
  SendWelcome: commit.sendWelcome,
  FindCommit: commit.findCommit,
  ClaimForFounding: founding.claimForFounding,
  FoundGeneration: founding.foundGeneration,
  Subscribe: delivery.subscribe,
  Unsubscribe: delivery.unsubscribe,
  Acknowledge: delivery.acknowledge,
  ReadOwn: delivery.readOwn,
  Confirm: delivery.confirm,
  RegisterInvite: invite.registerInvite,
  RevokeInvite: invite.revokeInvite,
  RequestJoin: join.requestJoin,
  RejectJoin: join.rejectJoin,
  RequestRejoin: rejoin.requestRejoin,
  SendLeaf: rejoin.sendLeaf,
};

/** Rejects with `Refusal` or `WireError` for an expected no, with anything else for a fault. */
export function dispatch(
  core: CoreParts,
  session: Session,
  envelope: ClientEnvelope,
): Promise<ReplyBody<CallName>> {
  const { traces } = core.deps;
  if (traces === undefined) return carryOut(core, session, envelope);
  return inSpan(
    traces.begin("server"),
    envelope.operation,
    session.link.transport,
    () => carryOut(core, session, envelope),
  );
}

/** A span tells nothing but which operation it was, and what became of it. */
async function inSpan<T>(
  span: CoreSpan,
  operation: CallName,
  transport: TransportKind,
  work: () => Promise<T>,
): Promise<T> {
  let code: string | undefined;
  try {
    return await work();
  } catch (error) {
    code = error instanceof Refusal || error instanceof WireError ? error.code : "internal";
    throw error;
  } finally {
    span.end(operation, {
      "rpc.method": operation,
      "network.transport": transport,
      "error.type": code,
    }, code === "internal");
  }
}

async function carryOut(
  core: CoreParts,
  session: Session,
  envelope: ClientEnvelope,
): Promise<ReplyBody<CallName>> {
  const asker: Asker = { core, session, quiet: envelope.kind === "notice" };
  if (isOpen(envelope.operation)) {
    // cast: of the body's own operation
    const handler = openHandlers[envelope.operation] as CallHandler<CallName, Asker>;
    return await handler(asker, envelope.body);
  }
  const { agent } = session;
  if (agent === undefined) throw new Refusal("auth_failed", "Authenticate first");
  // cast: of the body's own operation
  const handler = handlers[envelope.operation] as CallHandler<CallName>;
  const by: AgentAsker = { ...asker, agent };
  if (agent.grant !== undefined) {
    const authorized = authorize(by, agent.grant, envelope);
    if (authorized instanceof Promise) await authorized;
  }
  return await handler(by, envelope.body);
}

function isOpen(operation: CallName): operation is OpenCall {
  return Object.hasOwn(openHandlers, operation);
}
