/** A channel whose agent is in this process. */
import type { channelOperations, OperationMethods } from "../../proto/host/operations.ts";
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  type ChannelPolicy,
  type MessageId,
  parseAgentId,
  parseBinaryId,
} from "../../proto/mod.ts";
import { createError, invalidArgument, type StaticError } from "../base/errors.ts";
import type { Answers } from "../content/answers.ts";
import type { Envelope } from "../content/envelope.ts";
import type { AskOptions } from "../content/requester.ts";
import type { RequestHandler, ServeOptions, Serving } from "../content/service.ts";
import { type Addressee, agentIdsOf, encodeMessage, type Sendable } from "../content/values.ts";
import { fingerprintOf, numberOf } from "../mls/fingerprint.ts";
import { credentialOf } from "../mls/leaf.ts";
import { policyOf } from "../mls/policy_rules.ts";
import { addressedAgent } from "./group/addressing.ts";
import type { Agent } from "./agent.ts";
import { type ChannelHealth, describeHealth } from "./condition.ts";
import type { ChannelEvent, MissedEvents } from "./events.ts";
import { translating } from "./faults.ts";
import { addMember } from "./runner/adding_members.ts";
import type { EnvelopeOptions, InboxReader, ReceiveOptions } from "./runner/inbox_runner.ts";
import type { ChannelRunner } from "./runner/channel_runner.ts";
import {
  type ChannelMember,
  listKnownMembers,
  listMembers,
  listPresence,
  type Presence,
} from "./group/member_list.ts";
import type { SendOptions, Sent } from "./messages/send_options.ts";
import { setIssuers, shownIssuers } from "./commits/issuers.ts";
import { demote, promote, setPolicy } from "./commits/ownership.ts";
import type { ChannelPort } from "./port.ts";
import { choiceOf, type RecoveryPreview } from "./recovery/recovery_preview.ts";
import { waitForMember } from "./runner/waiting_for_member.ts";

type RolePlan = ReturnType<typeof promote>;

const nothing = new Uint8Array(0);
/** For the relay's word on who is there: what this agent has heard itself is told without it. */
const presenceMs = 5000;

export class LocalChannel implements ChannelPort {
  readonly #live: ChannelRunner;
  readonly #agent: Agent;

  constructor(live: ChannelRunner, agent: Agent) {
    this.#live = live;
    this.#agent = agent;
  }

  get name(): ChannelName {
    return this.#live.name;
  }

  get id(): ChannelId {
    return this.#live.channelId;
  }

  get over(): StaticError | undefined {
    return this.#live.over;
  }

  act: ChannelPort["act"] = (op, fields, { bytes = nothing } = {}) => this.#acts[op](fields, bytes);

  policy(): ChannelPolicy {
    return policyOf(this.#live.rooms.membership.group.binding);
  }

  send(value: Sendable, options: SendOptions): Promise<Sent> {
    return translating("Cannot send", () => {
      const encoding = { nowMs: this.#agent.relayNowMs, find: this.#find };
      if (options.receipt !== undefined) return this.#sendAsking(value, options, encoding);
      return this.#live.rooms.outbox.send(encodeMessage(value, options, encoding), options);
    }, options.signal);
  }

  async #sendAsking(
    value: Sendable,
    { receipt, ...options }: SendOptions,
    encoding: Parameters<typeof encodeMessage>[2],
  ): Promise<Sent> {
    const { to } = options;
    if (to === undefined) {
      throw invalidArgument("Cannot ask for receipts of everybody: name those that `to` is for");
    }
    const { outbox, receipts: { areRead } } = this.#live.rooms;
    const asks = areRead ? agentIdsOf(to, this.#find) : undefined;
    const fields = areRead ? { ...options, receipt } : options;
    const sent = await outbox.send(encodeMessage(value, fields, encoding), { ...options, asks });
    return { ...sent, receipts: areRead ? "asked" : "unsupported" };
  }

  request(
    value: Sendable,
    { to, ...options }: AskOptions & { readonly to: Addressee },
  ): Promise<Envelope> {
    return translating("Cannot ask", async () => {
      if (Array.isArray(to)) {
        throw invalidArgument("Cannot ask: `to` is a list; use requestAll() for several members");
      }
      for await (
        const answer of this.#live.rooms.requester.ask(value, agentIdsOf(to, this.#find), options)
      ) {
        if (answer.ok) return answer.reply;
        throw answer.error;
      }
      throw createError("internal", "Cannot ask: there was no answer");
    }, options.signal);
  }

  requestAll(
    value: Sendable,
    { to, ...options }: AskOptions & { readonly to: readonly Addressee[] },
  ): Answers {
    return this.#live.rooms.requester.ask(value, agentIdsOf(to, this.#find), options);
  }

  serve(handler: RequestHandler, options: ServeOptions): Serving {
    if (this.#live.over !== undefined) throw this.#live.over;
    return this.#live.rooms.service.serve(handler, options);
  }

  envelopes(options: EnvelopeOptions): InboxReader {
    if (options.as !== undefined || options.tail === true) {
      throw invalidArgument(
        'Readers with a position of their own need a host; connect with host: "auto"',
      );
    }
    return this.#live.rooms.inbox.read(options);
  }

  receive(options: ReceiveOptions): Promise<IteratorResult<Envelope, undefined> | undefined> {
    return this.#live.rooms.inbox.receive(options);
  }

  events(
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ChannelEvent | MissedEvents, undefined> {
    return this.#live.rooms.events.listen(signal);
  }

  members(): ChannelMember[] {
    return listMembers(this.#live.rooms, this.#agent.agentId, this.#agent.clocks.recogniser);
  }

  knownMembers(): ChannelMember[] {
    return listKnownMembers(this.#live.rooms, this.#agent.agentId, this.#agent.clocks.recogniser);
  }

  prepareMembers(): Promise<void> {
    return this.#live.rooms.confirmations.verifyInParts();
  }

  async #presence(): Promise<Presence[]> {
    const { session } = this.#agent.parts;
    const { membership: { channelId } } = this.#live.rooms;
    const nothingSaid = { members: [] };
    const { members } = session.state.kind === "online"
      ? await session.call("ListMembers", { channelId }, { timeoutMs: presenceMs })
        .catch(() => nothingSaid)
      : nothingSaid;
    const online = new Map(members.map((member) => [member.agentId, member.online]));
    await this.prepareMembers();
    return listPresence(this.#live.rooms, online);
  }

  waitForMember(
    wanted: Addressee | undefined,
    options: ReceiveOptions,
  ): Promise<ChannelMember | undefined> {
    const { newcomers } = this.#live.rooms;
    return translating(
      "Cannot wait for the member",
      () =>
        waitForMember(wanted, options, {
          channel: this,
          newcomers,
          runtime: this.#agent.parts.runtime,
        }),
      options.signal,
    );
  }

  skipped({ id, sender: { agentId } }: Envelope, why: string): void {
    this.#live.rooms.tell({ type: "skipped", why, id, sender: agentId });
  }

  numberOf(agentId: string): Promise<string> {
    return translating("Cannot tell the number", () => {
      const wanted = this.#find(agentId);
      const credential = this.#live.rooms.membership.leafOf(wanted)?.leaf.node;
      if (credential !== undefined) return numberOf(credentialOf(credential));
      throw invalidArgument(
        `Agent ${wanted} is not in this channel, or not back yet: its key is not known here`,
      );
    });
  }

  fingerprint(): string {
    return fingerprintOf(this.#live.rooms.membership.group.authenticator);
  }

  health(): ChannelHealth {
    this.#live.rooms.watch.lookAgain();
    return describeHealth(this.#live, this.#agent.parts.session.state);
  }

  readonly #acts: OperationMethods<typeof channelOperations> = {
    addMember: ({ agentId, ...options }, bytes) => {
      const deps = { ...this.#agent.clocks, ...this.#agent.parts };
      const adding = (): Promise<Uint8Array> =>
        addMember(agentId ?? bytes, options, this.#live.rooms, deps);
      return translating("Cannot add the member", adding);
    },
    removeMember: ({ agentId }) =>
      translating("Cannot remove the member", () => {
        const wanted = this.#find(agentId);
        if (wanted === this.#agent.agentId) {
          throw createError("invalid_request", "An agent cannot remove itself; use leave()");
        }
        return this.#commit({ is: "remove", agentId: wanted });
      }),
    recover: (choice) =>
      translating(
        "Cannot recover the channel",
        () => this.#live.recover(choiceOf(choice, this.#find)),
      ),
    previewRecovery: (choice) => {
      const preview = (): RecoveryPreview =>
        this.#live.previewRecovery(choiceOf(choice, this.#find));
      return translating("Cannot preview the recovery", preview);
    },
    promote: ({ agentId, to = "owner" }) =>
      translating(
        "Cannot promote the member",
        () => this.#commit(promote(this.#find(agentId), to)),
      ),
    demote: ({ agentId }) =>
      translating("Cannot demote the owner", () => this.#commit(demote(this.#find(agentId)))),
    setPolicy: (policy) =>
      translating("Cannot change the policy", () => {
        // cast: undefined parts stay as they are
        return this.#commit(setPolicy(policy as Partial<ChannelPolicy>));
      }),
    setIssuers: ({ issuers, remove = [] }) =>
      translating("Cannot change the issuers", () => {
        const removed = remove.map(this.#find);
        if (removed.includes(this.#agent.agentId)) {
          throw createError("invalid_request", "An agent cannot remove itself; use leave()");
        }
        return this.#commit(setIssuers(issuers, removed));
      }),
    issuers: () => {
      const { group: { binding } } = this.#live.rooms.membership;
      return Promise.resolve(shownIssuers(binding.issuers));
    },
    rotate: () =>
      translating("Cannot change the keys", async () => {
        const committed = await this.#live.rooms.commits.commit({ is: "rotate" });
        if (committed === undefined) {
          throw createError("internal", "Cannot change the keys: no commit was made");
        }
        await this.#agent.keyPackages.replace();
      }),
    presence: () => translating("Cannot tell who is there", () => this.#presence()),
    receiptsOf: ({ message }) =>
      translating(
        "Cannot tell what became of the message",
        () => [...this.#live.rooms.receipts.receiptsOf(messageIdOf(message))],
      ),
    giveReceipt: ({ message, sender, receipt, state }) =>
      translating("Cannot give the receipt", () => {
        if (this.#live.over !== undefined) throw this.#live.over;
        const to = [this.#agent.agentId];
        const about = { id: messageIdOf(message), sender: agentIdFrom(sender), receipt, to };
        return this.#live.rooms.receipts.say(about, state);
      }),
    leave: ({ successor }) =>
      translating("Cannot leave the channel", () => {
        return this.#agent.leave(
          this.#live,
          successor === undefined ? undefined : this.#find(successor),
        );
      }),
  };

  #commit(plan: RolePlan): Promise<void> {
    return this.#live.rooms.commits.commit(plan).then(() => {});
  }

  readonly #find = (named: string): AgentId => addressedAgent(named, () => this.knownMembers());
}

function messageIdOf(text: string): MessageId {
  return idFrom(text, () => parseBinaryId<MessageId>(text));
}

function agentIdFrom(text: string): AgentId {
  return idFrom(text, () => parseAgentId(text));
}

function idFrom<Id>(text: string, parse: () => Id): Id {
  try {
    return parse();
  } catch {
    throw invalidArgument(`"${text}" is no id of a message or an agent: it has 22 characters`);
  }
}
