/**
 * Every operation between a program and the process that holds its agent. From this table the
 * driver checks and dispatches calls, the SDK's remote objects make them, and the tables of
 * `docs/host.md` and of the Python package are generated. Each group belongs to one class. Fields
 * stand in the order in which the SDK writes them.
 */
import type { AgentId } from "../base/ids.ts";
import { maxBundledMessages } from "../statements/message_aad.ts";
import {
  choice,
  type FieldLimits,
  type FieldsOf,
  flag,
  type HostShape,
  type InputFields,
  json,
  list,
  map,
  number,
  object,
  optional,
  text,
  texts,
  whole,
} from "./fields.ts";

export interface HostOperation {
  readonly fields: HostShape;
  /** The bytes of the call. */
  readonly bytes?: string;
  readonly answer?: HostShape;
  /** The bytes of the answer, or of each item. */
  readonly brings?: string;
  /** The answer is the number of a stream of such items. */
  readonly items?: HostShape;
  /** The answer has the channel's state after it, which events would tell a moment later. */
  readonly changes?: true;
  /**
   * It may be said twice: to the next host, when the first one dies. A name: only with this field.
   */
  readonly again?: true | string;
  /** The reference page's words. */
  readonly says: string;
}

export type Operations = Readonly<Record<string, HostOperation>>;

/** Its value, where it gives back one: bytes, or the one field of its answer. */
export type ResultOf<O extends HostOperation> = O extends { readonly brings: string } ? Uint8Array
  : O extends { readonly answer: infer A extends HostShape } ? FieldsOf<A>[keyof FieldsOf<A>]
  : void;

/** The operations of a group, carried out by one object: a function for each. */
export type OperationMethods<T extends Operations> = {
  readonly [Op in keyof T]: (
    fields: InputFields<T[Op]["fields"]>,
    bytes: Uint8Array,
  ) => Promise<ResultOf<T[Op]>>;
};

/** Beside the fields of an operation. */
export interface OperationExtras {
  readonly bytes?: Uint8Array;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
}

/** An object that carries out the operations of a group. */
export interface Performer<T extends Operations> {
  act<Op extends keyof T>(
    op: Op,
    fields: InputFields<T[Op]["fields"]>,
    given?: OperationExtras,
  ): Promise<ResultOf<T[Op]>>;
}

/** How many items one `next` brings at most. */
export const maxItems = 64;
const atMost = (max: number, what: string): FieldLimits => ({
  min: 1,
  max,
  refusal: (_, value) => `${what.replace("…", `1 to ${max}`)}, not ${value}`,
});
const sequence = whole({
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
  refusal: (field) => `The field "${field}" must be a whole number from 0 to 2^53 - 1`,
});
const length = whole({
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
  refusal: () => "A length is a whole number from 0 up",
});
const concurrency = whole({
  min: 1,
  max: 1024,
  refusal: (_, value) => `concurrency is ${value}: give an integer from 1 to 1024`,
}, "requests at once; 16 when left out");

const channel = { channel: text() };
const ofChannel = { channel: optional(text()) };
const member = { agentId: text() };
const choosing = {
  without: optional(texts("agent ids; exactly these")),
  keep: optional(texts("but these")),
};
const item = { stream: number(), item: number() };
const entered = { name: text(), id: text() };
/** As in `content/receipt.ts`. */
const receiptStates = ["delivered", "held", "refused", "done"] as const;
const scopes = ["members", "owners"] as const;
const issuer = {
  domain: text(),
  key: text("base64url"),
  closed: optional(flag()),
  account: optional(text()),
  mailDomain: optional(text()),
};
const timeoutMs = optional(number());
const content = {
  contentType: optional(text()),
  conversation: optional(text()),
  headers: optional(map()),
};
/** A message that a program sends. */
export const message = {
  ...content,
  message: optional(text("its id, so that it can be repeated")),
  to: optional(texts()),
  replyTo: optional(text()),
  expiresInMs: optional(number()),
  queue: optional(flag()),
  timeoutMs,
  receipt: optional(choice(["delivered", "done"], "asked of those that `to` names")),
};
const asking = { ...channel, ...content, timeoutMs, key: optional(text()) };
const inviting = {
  ...channel,
  expiresInMs: optional(number()),
  uses: optional(number()),
  replaces: optional(text("a member")),
};
const guest = object({
  expiresInMs: optional(number()),
  messages: optional(number()),
  pass: optional(text()),
});
const invite = {
  id: text(),
  channel: text(),
  expiresAtMs: number(),
  uses: number(),
  used: number(),
  replaces: optional(text()),
};
const preview = object({
  blamed: text<AgentId>(),
  members: number(),
  leftOut: list({
    agentId: text<AgentId>(),
    identity: text(),
    because: choice(["blamed", "let_in", "same_door", "named"]),
    letInBy: optional(text<AgentId>()),
    seenMs: optional(number()),
  }),
  choiceNeeded: flag(),
});
const agent = {
  agentId: text(),
  transport: optional(text()),
  channels: texts(),
  welcomes: texts(),
};
const envelope = { envelope: json() };

/**
 * Those of `Channel` that a channel carries out by itself: fields in, at most one value out. Each
 * has the field `channel` before its own.
 */
export const channelOperations = {
  addMember: {
    fields: { agentId: optional(text()), replaces: optional(text("a member")) },
    bytes: "a KeyPackage, unless `agentId`",
    brings: "the Welcome",
    changes: true,
    says: "adds an agent",
  },
  removeMember: { fields: member, changes: true, again: true, says: "removes a member" },
  recover: { fields: choosing, changes: true, says: "begins a stopped channel anew" },
  previewRecovery: {
    fields: choosing,
    answer: { preview },
    again: true,
    says: "tells whom `recover` would leave out",
  },
  promote: {
    fields: { ...member, to: optional(choice(["owner", "member"])) },
    changes: true,
    again: true,
    says: "makes a member an owner, or a guest a member",
  },
  demote: { fields: member, changes: true, again: true, says: "makes an owner a member" },
  rotate: { fields: {}, changes: true, says: "changes this agent's keys" },
  setPolicy: {
    fields: { admission: optional(choice(scopes)), posting: optional(choice(scopes)) },
    changes: true,
    again: true,
    says: "changes who may add agents, and who may send",
  },
  presence: {
    fields: {},
    answer: {
      presence: list({
        agentId: text<AgentId>(),
        online: optional(flag("the relay's word")),
        lastHeardMs: optional(number("by signatures that this agent has verified")),
      }),
    },
    again: true,
    says:
      "tells of each member whether it is there: as the relay says, and as this agent has heard",
  },
  receiptsOf: {
    fields: { message: text("its id") },
    answer: {
      receipts: list({
        agentId: text<AgentId>(),
        state: optional(choice(receiptStates)),
        atMs: optional(number()),
      }),
    },
    again: true,
    says: "tells what became of a message at those that it was for",
  },
  giveReceipt: {
    fields: {
      message: text("its id"),
      sender: text<AgentId>(),
      receipt: choice(["delivered", "done"], "what its sender asked for"),
      state: choice(receiptStates),
    },
    again: true,
    says: "tells the sender of a message what became of it",
  },
  setIssuers: {
    fields: {
      issuers: optional(list(issuer, { says: "as they are when it is not given" })),
      remove: optional(texts("members that go with it")),
    },
    changes: true,
    again: true,
    says: "requires badges of these issuers; of none, when the list is empty",
  },
  issuers: {
    fields: {},
    answer: { issuers: list(issuer) },
    again: true,
    says: "lists the issuers whose badges the channel requires",
  },
  leave: {
    fields: { successor: optional(text("a member")) },
    says: "leaves the channel",
  },
} as const satisfies Operations;

/** Those of `StaticClient` that it carries out by itself. */
export const clientOperations = {
  keyPackage: { fields: {}, brings: "a KeyPackage", again: true, says: "makes a KeyPackage" },
  closeChannel: { fields: channel, says: "ends a channel for all its members" },
} as const satisfies Operations;

/** Those of `ChannelManager`. */
export const managerOperations = {
  invite: { fields: inviting, answer: { token: text() }, says: "makes an invite token" },
  inviteLink: {
    fields: { ...inviting, guest: optional(guest), web: optional(flag()) },
    answer: { link: text() },
    says: "makes an invite link, with `guest` for an agent without an account",
  },
  invites: {
    fields: ofChannel,
    answer: { invites: list(invite) },
    again: true,
    says: "lists this agent's invites, without their secrets",
  },
  revokeInvite: {
    fields: {
      ...ofChannel,
      invite: optional(text("its id")),
      token: optional(text("or a link; then nothing else")),
    },
    again: "token",
    says: "revokes an invite",
  },
} as const satisfies Operations;

/** Those of an agent: `ChannelManager` has those of its client, too. */
export const agentOperations = { ...clientOperations, ...managerOperations };

const joining = {
  timeoutMs,
  from: optional(text("a domain that attests the one who lets this agent in; else `not_attested`")),
  requireIssuers: optional(flag("the channel requires badges; else `not_attested`")),
};

/** Ways into a channel. */
export const entrances = {
  create: {
    fields: {
      ...channel,
      receive: optional(flag()),
      postQuantum: optional(choice(["require", "prefer"], "for newcomers; `require` if not given")),
    },
    answer: entered,
    again: true,
    says: "makes a channel",
  },
  open: {
    fields: { ...channel, receive: optional(flag()) },
    answer: entered,
    again: true,
    says: "opens a channel that this agent is in",
  },
  openOrCreate: {
    fields: { ...channel, receive: optional(flag()) },
    answer: entered,
    again: true,
    says: "either",
  },
  join: {
    fields: { ...channel, receive: optional(flag()), delivered: optional(flag()) },
    bytes: "the Welcome, unless `delivered`",
    answer: entered,
    again: true,
    says: "joins by a Welcome, or by the one that the relay has `delivered`",
  },
  joinLink: {
    fields: { link: text(), ...joining },
    answer: entered,
    again: true,
    says: "joins by a link",
  },
  joinWithToken: {
    fields: { ...channel, token: text(), ...joining },
    answer: entered,
    again: true,
    says: "joins by an invite token",
  },
  joinOrOpen: {
    fields: { ...channel, token: text(), ...joining },
    answer: entered,
    again: true,
    says: "the same, and opens the channel if this agent is in it",
  },
} as const satisfies Operations;

/** Those that look at an agent and its channels. */
export const looks = {
  agent: { fields: {}, answer: agent, again: true, says: "tells the agent's state" },
  number: {
    fields: {
      ...ofChannel,
      agentId: optional(text("a member of `channel`; without it, this agent")),
    },
    answer: { number: text("40 digits") },
    again: true,
    says: "tells an agent's number",
  },
  watch: {
    fields: ofChannel,
    answer: { state: json() },
    says: "tells the state, and its changes as events `agent` and `channel`",
  },
  waitForMember: {
    fields: { ...channel, member: optional(text()), timeoutMs },
    answer: { member: optional(json()), none: optional(flag("when nobody came in time")) },
    again: true,
    says: "waits until a member is there, or the next one",
  },
  members: { fields: channel, answer: { members: json() }, again: true, says: "lists the members" },
  fingerprint: {
    fields: channel,
    answer: { fingerprint: text() },
    again: true,
    says: "tells the channel's fingerprint",
  },
  health: {
    fields: channel,
    answer: { health: json() },
    again: true,
    says: "tells the channel's troubles",
  },
  policy: {
    fields: channel,
    answer: { policy: object({ admission: choice(scopes), posting: choice(scopes) }) },
    again: true,
    says: "tells the channel's policy",
  },
} as const satisfies Operations;

/** Messages, requests and streams. */
export const talking = {
  send: {
    fields: { ...channel, ...message },
    bytes: "the message",
    answer: {
      id: text(),
      accepted: flag(),
      receipts: optional(choice(["asked", "unsupported"], "with `receipt`")),
    },
    again: "message",
    says: "sends a message",
  },
  sendAll: {
    fields: {
      ...channel,
      bundle: optional(
        text("an id for all of them, so that they can be repeated; each then has its `message`"),
      ),
      messages: list({ ...message, length }, {
        limits: atMost(maxBundledMessages, "Give … messages"),
        says: "as for `send`, with the `length` of each",
      }),
      again: optional(flag("it may have been said to the host before")),
    },
    bytes: "all messages",
    answer: { sent: json("for each `id`, `accepted` and `receipts`, or `error`") },
    again: "bundle",
    says: "sends several messages as one",
  },
  request: {
    fields: { ...asking, to: text() },
    bytes: "the request",
    answer: envelope,
    brings: "the reply",
    again: "key",
    says: "asks a member",
  },
  requestAll: {
    fields: { ...asking, to: texts() },
    bytes: "the request",
    items: { from: text(), envelope: optional(json()), error: optional(json()) },
    brings: "the reply",
    says: "asks several members",
  },
  read: {
    fields: {
      ...channel,
      all: optional(flag()),
      ack: optional(choice(["auto", "manual"])),
      as: optional(text("a durable reader")),
      tail: optional(flag("from now on; with `as`, first what waits for that reader")),
    },
    items: { ...envelope, sequence: optional(number("with `manual`")), missed: optional(number()) },
    brings: "the message",
    says: "reads the channel's messages",
  },
  receive: {
    fields: { ...channel, timeoutMs },
    answer: { envelope: optional(json()), none: optional(flag("when none came in time")) },
    brings: "the message",
    again: true,
    says: "takes the next message",
  },
  events: {
    fields: ofChannel,
    items: { event: json() },
    says: "tells events of the agent, or of a channel",
  },
  serve: {
    fields: { ...channel, concurrency: optional(concurrency) },
    items: { ...envelope, attempt: number(), deadlineMs: number() },
    brings: "the request",
    says: "serves the channel's requests",
  },
  next: {
    fields: { stream: number(), count: optional(whole(atMost(maxItems, "Ask for … items"))) },
    answer: {
      item: optional(number("its number, and its fields")),
      items: optional(json("of several")),
      done: optional(flag("at the end")),
    },
    brings: "those of the items",
    says: "takes the next item of a stream, or several that are there",
  },
  passed: {
    fields: { ...item, back: optional(number("those from it on come again")) },
    says: "items up to `item` of the last answer are done with",
  },
  ack: {
    fields: {
      stream: optional(number()),
      item: optional(number()),
      channel: optional(text("of a message of the host before, in place of `stream` and `item`")),
      as: optional(text()),
      sequence: optional(sequence),
      timeMs: optional(sequence),
      message: optional(text()),
    },
    again: "sequence",
    says: "an item is done with",
  },
  finish: {
    fields: { stream: number(), item: optional(number("those after it come again")) },
    says: "ends a stream; its items are done with",
  },
  end: { fields: { stream: number() }, says: "ends a stream; its items come again" },
  reply: {
    fields: { ...item, contentType: optional(text()) },
    bytes: "the reply",
    says: "answers a request",
  },
  fail: {
    fields: {
      ...item,
      message: text(),
      remoteCode: optional(text()),
      retryable: optional(flag()),
      retryAfterMs: optional(number()),
    },
    says: "the same with an error",
  },
} as const satisfies Operations;

/** Those of the connection itself. */
export const sessionOperations = {
  connect: {
    fields: {
      dataDir: text(),
      manager: optional(flag()),
      link: optional(text()),
      endpoint: optional(text()),
      apiUrl: optional(text()),
      apiKey: optional(text()),
      token: optional(text()),
      tokenAsk: optional(flag("the program is asked for tokens")),
      passphrase: optional(text()),
      repair: optional(flag()),
      damaged: optional(choice(["refuse", "read", "accept"])),
      transport: optional(text()),
      cover: optional(json()),
      tls: optional(object({
        caFile: optional(text()),
        caCerts: optional(texts()),
        relayCaCerts: optional(texts()),
        certificateHashes: optional(texts()),
      })),
      trustFile: optional(text()),
      receipts: optional(choice(["addressed", "off"], "whether senders that ask are told")),
      badge: optional(text("its text, or the path of its file; empty for none")),
    },
    bytes: "the identity",
    answer: agent,
    says: "opens the agent; over `stdio` alone",
  },
  cancel: { fields: { call: number("the `id` of a call") }, says: "gives up a call" },
  answer: {
    fields: { ask: number(), token: optional(text()), failure: optional(text()) },
    says: "answers the event `ask`",
  },
  close: {
    fields: {},
    says: "everything that was received is done with; over `stdio` the agent is closed",
  },
} as const satisfies Operations;

/** A host is started with these as its first frame. */
export const hostStart = {
  ...sessionOperations.connect.fields,
  socket: text("its path"),
  idleMs: optional(number()),
  settings: optional(text("a mark of these, which `hello` shows")),
  saved: optional(object({ apiUrl: optional(text()), apiKey: optional(text()) })),
};

/** Those that only a host has. */
export const hostOperations = {
  names: {
    fields: {},
    says: "the user has changed the list of known agents, or this agent's badges",
  },
  status: {
    fields: {},
    answer: {
      pid: number(),
      sdk: text(),
      runtime: text(),
      startedAtMs: number(),
      programs: number(),
      agentId: text(),
      channels: texts(),
    },
    says: "tells about the host",
  },
  stop: {
    fields: { whenIdle: optional(flag()) },
    answer: { stopping: flag(), unsent: number() },
    says: "ends the host",
  },
  readers: { fields: ofChannel, answer: { readers: json() }, says: "lists the durable readers" },
  deleteReader: { fields: { ...channel, reader: text() }, says: "deletes one" },
} as const satisfies Operations;

const all = {
  ...sessionOperations,
  ...looks,
  ...entrances,
  ...clientOperations,
  ...channelOperations,
  ...managerOperations,
  ...talking,
  ...hostOperations,
};

export type OperationName = keyof typeof all;

/** All of them, each with all its fields. */
export const operations: Readonly<Record<OperationName, HostOperation>> = {
  ...all,
  ...eachWithChannel(channelOperations),
};

function eachWithChannel<T extends Operations>(
  rows: T,
): { readonly [Op in keyof T]: HostOperation } {
  const entries = Object.entries(rows).map((
    [op, row],
  ) => [op, { ...row, fields: { ...channel, ...row.fields } }]);
  return Object.fromEntries(entries);
}
