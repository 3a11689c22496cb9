/** Invites of an agent in this process: while it runs, any holder of one of its tokens can join. */
import type { agentOperations, OperationMethods } from "../../proto/host/operations.ts";
import {
  formatInviteToken,
  type InviteId,
  looksLikeJoinLink,
  parseBinaryId,
  parseInviteToken,
  parseJoinLink,
} from "../../proto/mod.ts";
import { abortable } from "../base/abortable.ts";
import { createError, invalidArgument, isCode } from "../base/errors.ts";
import { checkReplaced, ownersAdmit } from "../channel/commits/adding.ts";
import { rightsOf } from "../mls/policy_rules.ts";
import type { Agent } from "../channel/agent.ts";
import { translating } from "../channel/faults.ts";
import type { ChannelRunner } from "../channel/runner/channel_runner.ts";
import { listChannels } from "../channel/runner/entrances.ts";
import type { ManagerPort } from "./client_port.ts";
import { InviteBook } from "../invites/invite_book.ts";
import type { InviteState } from "../invites/invite_state.ts";
import { JoinAnswers } from "../invites/join_answers.ts";
import { createLink, type LinkOptions } from "../invites/links.ts";
import { LocalClient } from "./local_client.ts";

const nothing = new Uint8Array(0);
const dayMs = 24 * 60 * 60 * 1000;

export class LocalManager extends LocalClient implements ManagerPort {
  readonly #agent: Agent;
  readonly #book: InviteBook;
  readonly #answers: JoinAnswers;
  readonly #forget: () => void;
  /** Cancels the next look for passes that nobody needs. */
  #cancelEnding: () => void = () => {};

  private constructor(agent: Agent) {
    super(agent);
    this.#agent = agent;
    const relayNowMs = (): number => agent.relayNowMs;
    const revokePass = async (id: string): Promise<void> => {
      const { service } = agent.parts.session;
      // Then the pass is kept in mind until it expires: the API may be known again at the next
      // start.
      if (service === undefined) {
        throw createError("invalid_request", "This agent does not know the API's address");
      }
      await service.revokePass(id);
    };
    this.#book = new InviteBook({ ...agent.parts, agentId: agent.agentId, relayNowMs, revokePass });
    this.#answers = new JoinAnswers(agent, this.#book);
    this.#forget = agent.listen({
      onJoinRequest: (request) => this.#answers.request(request),
      inviteOf: (channelId, agentId) => this.#book.inviteOf(channelId, agentId),
    });
  }

  /**
   * Opens all channels of the agent, and begins to answer join requests. Closes them again on
   * failure.
   */
  static async open(agent: Agent): Promise<LocalManager> {
    const manager = new LocalManager(agent);
    try {
      await translating("Cannot open the agent's channels", async () => {
        for (const name of agent.names) await manager.#openStored(name);
      });
      void manager.#endPasses();
      return manager;
    } catch (error) {
      await manager.close();
      throw error;
    }
  }

  /**
   * Undefined for a channel that is left meanwhile, or whose keys a damaged store has lost: the
   * others go on.
   */
  async #openStored(name: string): Promise<ChannelRunner | undefined> {
    try {
      return await this.#agent.open(name);
    } catch (error) {
      if (isCode(error, "not_found")) return undefined;
      throw error;
    }
  }

  override act: ManagerPort["act"] = (op, fields, { bytes = nothing, signal } = {}) =>
    abortable(signal, () => this.#acts[op](fields, bytes));

  /**
   * A guest that was removed has no more use for its pass. Nobody waits for the API that revokes
   * it.
   */
  async #endPasses(): Promise<void> {
    const events = this.#agent.events.listen(undefined);
    // Nothing of this keeps a program alive whose session is over.
    const { session } = this.#agent.parts;
    session.onConnection(() => session.state.kind === "ended" && this.#cancelEnding());
    await this.#endUnused();
    for await (const event of events) {
      if (event.type === "member_removed") await this.#tidy(() => this.#agent.open(event.channel));
    }
  }

  /**
   * Now and once a day: invites expire while this agent runs, and the API may be out of reach at
   * any time.
   */
  async #endUnused(): Promise<void> {
    const { store, session, runtime } = this.#agent.parts;
    for (const { channelId } of await listChannels(store).catch(() => [])) {
      // The channel is found by its id: one that is over is not begun anew for this.
      await this.#tidy(() => this.#agent.find(channelId));
    }
    // This ends passes for channels that the agent has left.
    await this.#book.endPasses().catch(() => {});
    if (session.state.kind === "ended") return;
    this.#cancelEnding = runtime.after(dayMs, () => void this.#endUnused());
  }

  async #tidy(find: () => Promise<ChannelRunner | undefined>): Promise<void> {
    try {
      const channel = await find();
      if (channel !== undefined) await this.#book.tidy(channel.rooms.membership);
    } catch {
      // The invites are tidied the next day.
    }
  }

  /** The channel, if this agent may invite into it: an invite is a promise to add. */
  async #inviting(name: string): Promise<ChannelRunner> {
    const channel = await this.#agent.open(name);
    if (!channel.rooms.membership.group.self.mayAdd) throw ownersAdmit(channel.rooms.membership);
    return channel;
  }

  override async close(): Promise<void> {
    this.#forget();
    this.#answers.stop();
    await super.close();
  }

  readonly #acts: OperationMethods<typeof agentOperations> = {
    ...this.acts,
    invite: ({ channel: name, ...options }) =>
      translating("Cannot invite", async () => {
        const channel = await this.#inviting(name);
        const { membership } = channel.rooms;
        const replaced = options.replaces === undefined
          ? undefined
          : checkReplaced(options.replaces, membership);
        // A guest that goes before somebody takes its place is still followed by a guest.
        const forGuest = replaced !== undefined &&
          rightsOf(replaced, membership.group.binding).guest;
        const { invite } = await this.#book.create(
          channel,
          options,
          forGuest ? { pass: undefined } : undefined,
        );
        return formatInviteToken(invite);
      }),
    inviteLink: ({ channel: name, ...given }) => {
      // cast: a link that shall replace somebody is refused where links are made
      const options = given as LinkOptions;
      const { session: { service }, runtime } = this.#agent.parts;
      const deps = { service, book: this.#book, nowMs: () => runtime.nowMs() };
      return translating(
        "Cannot invite",
        async () => createLink(await this.#inviting(name), options, deps),
      );
    },
    invites: ({ channel: name }) =>
      translating("Cannot list the invites", async () => {
        const lists: InviteState[][] = [];
        for (const each of name === undefined ? this.#agent.names : [name]) {
          const channel = name === undefined
            ? await this.#openStored(each)
            : await this.#agent.open(each);
          if (channel !== undefined) lists.push(await this.#book.list(channel.rooms.membership));
        }
        return lists.flat();
      }),
    revokeInvite: ({ token, channel, invite }) =>
      translating("Cannot revoke the invite", async () => {
        if (token !== undefined) {
          return await this.#book.revoke(
            looksLikeJoinLink(token) ? parseJoinLink(token).invite : parseInviteToken(token),
          );
        }
        if (channel === undefined || invite === undefined) {
          throw invalidArgument(
            `The field "${channel === undefined ? "channel" : "invite"}" must be text`,
          );
        }
        const { channelId } = await this.#agent.open(channel);
        if (await this.#book.revokeById(channelId, parseBinaryId<InviteId>(invite))) return;
        throw createError(
          "not_found",
          `There is no invite ${invite} for "${channel}"; see which there are`,
        );
      }),
  };
}
