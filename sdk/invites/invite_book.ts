/**
 * The invites that this agent has given out. The relay knows an invite's id and counts its uses;
 * whether somebody is let in is decided by what is written here, on our own disk, where every
 * admission is noted before the commit that makes it true.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  equalBytes,
  type Invite,
  type InviteId,
  inviteIdOf,
  joinMac,
  limits,
  type NoticeBody,
  parseAgentId,
  parseBinaryId,
  parseChannelName,
} from "../../proto/mod.ts";
import { invitesKind } from "../channel/channel_kinds.ts";
import { createError, StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RelaySession } from "../session/relay_session.ts";
import { Serial } from "../base/serial.ts";
import { decodeFields, encodeFields, type RecordStore, StoredFields } from "../store/mod.ts";
import type { InviteOptions, InviteState } from "./invite_state.ts";
import { type GuestPass, PassNotes, readable } from "./pass_notes.ts";

interface KeptInvite {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly secret: Uint8Array;
  /** When it expires, by the relay's clock. */
  readonly expiresAtMs: number;
  /** When it expires, by our own clock: a relay can make its clock say anything. */
  readonly expiresHereAtMs: number;
  readonly uses: number;
  /** The member whose place the agent takes that joins by it. */
  readonly replaces: AgentId | undefined;
  /** Admissions by hashes of the KeyPackages that may come in, in hexadecimal. */
  readonly admitted: ReadonlyMap<string, InviteAdmission>;
  /** Made for the agent that joins by it; ended with it. */
  readonly pass: GuestPass | undefined;
  /** Agents that join by it come as guests of the channel. */
  readonly guest: boolean;
  /** The invite has ended. It is kept until its pass has been revoked. */
  readonly ended: boolean;
}

interface InviteAdmission {
  /**
   * The channel's epoch when that was decided: a repeated request is not a second use, and is
   * useless once its agent has been a member since then.
   */
  readonly epoch: number;
  readonly agentId: AgentId;
}

/**
 * The invite's record, as far as it is about one request to join that was made with the invite's
 * secret.
 */
export interface RequestNote {
  /** The epoch in which this very KeyPackage was admitted, if it was. */
  readonly admittedIn: number | undefined;
  /** The member whose place it takes, by the invite's record. */
  readonly replaces: AgentId | undefined;
  /** The agent comes as a guest, by that record. */
  readonly guest: boolean;
}

/** The channel's membership, as far as it matters who may still come in. */
export interface InviteScene {
  readonly channelId: ChannelId;
  readonly epoch: number;
  wasExpelledSince(agentId: AgentId, epoch: number): boolean;
}

export interface InviteBookDeps {
  readonly store: Pick<RecordStore, "get" | "put" | "delete" | "list">;
  readonly session: Pick<RelaySession, "call">;
  readonly runtime: Pick<Runtime, "randomBytes" | "nowMs">;
  readonly agentId: AgentId;
  readonly relayNowMs: () => number;
  /** Rejects when the API cannot be asked now. */
  readonly revokePass: (id: string) => Promise<void>;
}

/** Says that an invite is for a guest, and which pass was made for it, if this agent made one. */
export interface GuestInvite {
  readonly pass: GuestPass | undefined;
}

/** An invite that was just made. */
export interface MadeInvite {
  readonly invite: Invite;
  readonly expiresAtMs: number;
}

const secretBytes = 32;
const dayMs = 24 * 60 * 60 * 1000;
const maxExpiryMs = 365 * dayMs;

export type DeliveredJoinRequest = NoticeBody<"DeliverJoinRequest">;

export class InviteBook {
  readonly #deps: InviteBookDeps;
  /**
   * Puts reads and writes of records in a row: an invite that is revoked meanwhile must not come
   * back.
   */
  readonly #changes = new Serial();
  /**
   * Invites by which somebody is being let in, as they are on disk; a commit cannot wait for the
   * disk.
   */
  readonly #used = new Map<InviteId, KeptInvite>();
  /** The passes, also of channels that this agent has left, with which the invites are deleted. */
  readonly #passes: PassNotes;

  constructor(deps: InviteBookDeps) {
    this.#deps = deps;
    this.#passes = new PassNotes(deps);
  }

  /**
   * An invite to a channel that this agent is in. It is on our disk before anybody can have it.
   * Whether this agent may let another one replace a member is the caller's to check, and is judged
   * again when somebody joins.
   */
  async create(
    channel: { readonly channelId: ChannelId; readonly name: ChannelName },
    options: InviteOptions,
    forGuest?: GuestInvite,
  ): Promise<MadeInvite> {
    const { pass } = forGuest ?? {};
    const guest = forGuest !== undefined;
    const { channelId, name } = channel;
    const { expiresInMs, uses, replaces } = checkInviteOptions(options);
    const secret = this.#deps.runtime.randomBytes(secretBytes);
    const inviteId = inviteIdOf(secret);
    const expiresAtMs = Math.ceil(this.#deps.relayNowMs() + expiresInMs);
    const expiresHereAtMs = Math.ceil(this.#deps.runtime.nowMs() + expiresInMs);
    const times = { expiresAtMs, expiresHereAtMs };
    const whom = { uses, replaces, guest, pass, admitted: new Map(), ended: false };
    const record = { channelId, name, secret, ...times, ...whom };
    await this.#changes.run(async () => {
      if (pass !== undefined) await this.#passes.note(pass, { channelId, inviteId, state: "open" });
      await this.#put(inviteId, record);
    });
    await this.#deps.session.call("RegisterInvite", { channelId, inviteId, expiresAtMs, uses });
    return { invite: { channelId, name, inviter: this.#deps.agentId, secret }, expiresAtMs };
  }

  /** Returns the invites of a channel that somebody could join with. */
  async list(scene: InviteScene): Promise<InviteState[]> {
    return (await this.#all(scene.channelId))
      .filter((each) =>
        !this.#isOver(each) && each.admitted.size < each.uses && !hasEnded(each, scene)
      )
      .map(({ id, name, expiresAtMs, uses, admitted, replaces }) => ({
        id,
        channel: name,
        expiresAtMs,
        uses,
        used: admitted.size,
        ...(replaces !== undefined && { replaces }),
      }));
  }

  /** Nobody joins with it any more, whatever the relay does. */
  async revoke({ channelId, secret }: Pick<Invite, "channelId" | "secret">): Promise<void> {
    await this.revokeById(channelId, inviteIdOf(secret));
  }

  /**
   * Returns whether there was one. Its pass ends with it, at the latest when this agent next starts
   * with the API in reach.
   */
  async revokeById(channelId: ChannelId, inviteId: InviteId): Promise<boolean> {
    const ended = await this.#changes.run(async () => {
      const invite = await this.#get(channelId, inviteId);
      if (invite === undefined || invite.ended) return undefined;
      const ended = { ...invite, ended: true };
      await this.#put(inviteId, ended);
      if (this.#used.has(inviteId)) this.#used.set(inviteId, ended);
      return { id: inviteId, ...ended };
    });
    if (ended === undefined) return false;
    // The API may be in reach when the relay is not, and a program that is stopped does not wait
    // for a relay that is silent.
    const told = this.#deps.session.call("RevokeInvite", { channelId, inviteId });
    for (const each of await Promise.allSettled([told, this.#drop(ended)])) {
      if (each.status === "rejected") throw each.reason;
    }
    return true;
  }

  /**
   * Whether each of these requests to one channel is by somebody with its invite's secret and for
   * this very KeyPackage. If so its use is counted: in one write for all requests with the same
   * invite. Returns, in the order of the requests, the epochs in which they were first admitted, or
   * why they are not.
   */
  admit(
    requests: readonly DeliveredJoinRequest[],
    scene: InviteScene,
  ): Promise<(number | StaticError)[]> {
    return this.#changes.run(async () => {
      const invites = new Map<InviteId, KeptInvite>();
      const changed = new Set<InviteId>();
      const verdicts: (number | StaticError)[] = [];
      for (const request of requests) {
        const { inviteId, channelId, agentId } = request;
        const invite = invites.get(inviteId) ?? await this.#get(channelId, inviteId);
        const verdict = this.#judge(request, invite, scene);
        verdicts.push(verdict === "new" ? scene.epoch : verdict);
        if (verdict instanceof StaticError || invite === undefined) continue;
        invites.set(inviteId, invite);
        if (verdict !== "new") continue;
        const admitted = new Map(invite.admitted).set(hashOf(request), {
          epoch: scene.epoch,
          agentId,
        });
        invites.set(inviteId, { ...invite, admitted });
        changed.add(inviteId);
      }
      // Also before the commit, which may fail: then the pass of a guest that never came in is good
      // until it expires. The other way round, a crash after the commit would have the pass of a
      // member revoked.
      for (const [inviteId, invite] of invites) {
        const { pass, channelId } = invite;
        const isNew = changed.has(inviteId);
        if (isNew && pass !== undefined) {
          await this.#passes.note(pass, { channelId, inviteId, state: "in use" });
        }
        if (isNew) await this.#put(inviteId, invite);
        this.#used.set(inviteId, invite);
      }
      return verdicts;
    });
  }

  /** New: it may come in, and that is not noted yet. */
  #judge(
    request: DeliveredJoinRequest,
    invite: KeptInvite | undefined,
    scene: InviteScene,
  ): number | StaticError | "new" {
    if (invite === undefined || invite.ended) return inviteEnded({ ended: true });
    const { admitted } = invite;
    if (!this.#isGenuine(request, invite)) return notMadeWithInvite();
    if (this.#isOver(invite)) {
      return createError("join_rejected", "The invite has expired; ask for a new one");
    }
    if (hasEnded(invite, scene)) return inviteEnded(invite);
    const before = admitted.get(hashOf(request));
    if (before !== undefined) return before.epoch;
    if (admitted.size < invite.uses) return "new";
    return createError(
      "join_rejected",
      "The invite has been used as often as it may; ask for a new one",
    );
  }

  /**
   * Why a request that was admitted lets nobody in any more: the invite has ended since. Asked
   * again for every commit.
   */
  whyEnded(
    { inviteId }: Pick<DeliveredJoinRequest, "inviteId">,
    scene: InviteScene,
  ): StaticError | undefined {
    const invite = this.#used.get(inviteId);
    return invite !== undefined && hasEnded(invite, scene) ? inviteEnded(invite) : undefined;
  }

  /** The invite by which an agent is being let in, as long as its request is not settled. */
  inviteOf(channelId: ChannelId, agentId: AgentId): InviteId | undefined {
    const isIt = ([, invite]: [InviteId, KeptInvite]): boolean =>
      invite.channelId === channelId &&
      [...invite.admitted.values()].some((admitted) => admitted.agentId === agentId);
    return [...this.#used].find(isIt)?.[0];
  }

  /** The request is answered, refused, or judged anew later. */
  settled({ inviteId }: Pick<DeliveredJoinRequest, "inviteId">): void {
    this.#used.delete(inviteId);
  }

  /**
   * Returns the notes about these requests, in their order, or why one is not genuine: nothing else
   * of it is looked at then.
   */
  async notesOn(requests: readonly DeliveredJoinRequest[]): Promise<(RequestNote | StaticError)[]> {
    const invites = new Map<InviteId, KeptInvite | undefined>();
    const notes: (RequestNote | StaticError)[] = [];
    for (const request of requests) {
      const { channelId, inviteId } = request;
      if (!invites.has(inviteId)) invites.set(inviteId, await this.#get(channelId, inviteId));
      const invite = invites.get(inviteId);
      if (invite === undefined) notes.push(inviteEnded({ ended: true }));
      else if (!this.#isGenuine(request, invite)) notes.push(notMadeWithInvite());
      else {
        const { admitted, replaces, guest } = invite;
        notes.push({ admittedIn: admitted.get(hashOf(request))?.epoch, replaces, guest });
      }
    }
    return notes;
  }

  /** Whether it was made with the invite's secret, for this very KeyPackage. */
  #isGenuine(
    { channelId, keyPackage, mac }: DeliveredJoinRequest,
    { name, secret }: KeptInvite,
  ): boolean {
    const expected = joinMac(secret, { channelId, name, inviter: this.#deps.agentId, keyPackage });
    return equalBytes(expected, mac);
  }

  /**
   * Deletes the invites of a channel that are over, and revokes passes that are of no use any more.
   */
  async tidy(scene: InviteScene): Promise<void> {
    const nowMs = this.#deps.runtime.nowMs();
    for (const invite of await this.#all(scene.channelId)) {
      const { pass, admitted } = invite;
      // A guest that came in uses its pass until that expires, and loses it when it is removed.
      const isInUse = pass !== undefined && pass.expiresAtMs > nowMs && admitted.size > 0;
      if (hasEnded(invite, scene) || (this.#isOver(invite, dayMs) && !isInUse)) {
        await this.#drop(invite);
      }
    }
  }

  /**
   * Revokes passes whose invites were deleted when this agent left their channel. A guest that is
   * in a channel keeps its own.
   */
  async endPasses(): Promise<void> {
    for (const { id, channelId, inviteId } of await this.#passes.list()) {
      const unused = await this.#changes.run(async () => {
        // An invite that is there decides itself, see `tidy`, also one that cannot be read.
        if (await this.#deps.store.get(invitesKind(channelId), inviteId) !== undefined) {
          return undefined;
        }
        // The pass is read as it is now: the API was asked about others meanwhile, and a guest may
        // have come in.
        return await this.#passes.get(id);
      });
      // Nobody waits for the API.
      if (unused !== undefined) await this.#passes.end(unused);
    }
  }

  /** Kept when its pass cannot be revoked now. */
  async #drop({ id, channelId, pass }: KeptInvite & { readonly id: InviteId }): Promise<void> {
    if (pass !== undefined) {
      const note = { channelId, inviteId: id, state: "open" } as const;
      await this.#passes.note(pass, note);
      // Tried again at the next start, with the next removal, and every day.
      if (!await this.#passes.end({ ...pass, ...note })) return;
    }
    await this.#changes.run(() => this.#deps.store.delete(invitesKind(channelId), id));
  }

  async #all(channelId: ChannelId): Promise<(KeptInvite & { readonly id: InviteId })[]> {
    const records = await this.#deps.store.list(invitesKind(channelId));
    return readable(
      records,
      ({ id, value }) => ({ id: parseBinaryId<InviteId>(id), ...decode(channelId, value) }),
    );
  }

  /** Returns whether an invite is over by either clock; both are given `graceMs` more. */
  #isOver({ expiresAtMs, expiresHereAtMs }: KeptInvite, graceMs = 0): boolean {
    const { relayNowMs, runtime } = this.#deps;
    return relayNowMs() > expiresAtMs + graceMs || runtime.nowMs() > expiresHereAtMs + graceMs;
  }

  async #get(channelId: ChannelId, inviteId: InviteId): Promise<KeptInvite | undefined> {
    const record = await this.#deps.store.get(invitesKind(channelId), inviteId);
    return record === undefined ? undefined : decode(channelId, record);
  }

  async #put(inviteId: InviteId, invite: KeptInvite): Promise<void> {
    const {
      channelId,
      name,
      secret,
      expiresAtMs,
      expiresHereAtMs,
      uses,
      replaces,
      guest,
      admitted,
      pass,
      ended,
    } = invite;
    const rows = [...admitted].map(([hash, { epoch, agentId }]) => [hash, epoch, agentId]);
    const passFields = pass === undefined ? null : [pass.id, pass.expiresAtMs];
    const times = [expiresAtMs, expiresHereAtMs];
    const value = encodeFields([
      name,
      secret,
      ...times,
      uses,
      rows,
      passFields,
      ended,
      replaces ?? null,
      guest,
    ]);
    await this.#deps.store.put(invitesKind(channelId), inviteId, value);
  }
}

function decode(channelId: ChannelId, record: Uint8Array): KeptInvite {
  const fields = decodeFields(record, "invites");
  const replaces = fields.optionalText(8);
  return {
    channelId,
    name: parseChannelName(fields.text(0)),
    secret: fields.bytes(1),
    expiresAtMs: fields.number(2),
    expiresHereAtMs: fields.number(3),
    uses: fields.number(4),
    replaces: replaces === undefined ? undefined : parseAgentId(replaces),
    admitted: new Map(fields.rows(5).map((row) => [row.text(0), admittedOf(row)])),
    pass: fields.isNull(6) ? undefined : passOf(new StoredFields(fields.list(6), "invites")),
    ended: fields.flag(7),
    guest: fields.flag(9),
  };
}

function admittedOf(row: StoredFields): InviteAdmission {
  return { epoch: row.number(1), agentId: parseAgentId(row.text(2)) };
}

function passOf(fields: StoredFields): GuestPass {
  return { id: fields.text(0), expiresAtMs: fields.number(1) };
}

/** Whether it was revoked, or somebody that came in by it was removed against its will. */
function hasEnded({ admitted, ended }: KeptInvite, scene: InviteScene): boolean {
  return ended ||
    [...admitted.values()].some(({ agentId, epoch }) => scene.wasExpelledSince(agentId, epoch));
}

function inviteEnded({ ended }: Pick<KeptInvite, "ended">): StaticError {
  const text = ended
    ? "The invite is not known or was revoked; ask for a new one"
    : "The invite is over: an agent that came in by it was removed from the channel; ask for a new one";
  return createError("join_rejected", text);
}

function notMadeWithInvite(): StaticError {
  const text = "The request was not made with the invite's secret, or was changed on its way";
  return createError("join_rejected", text);
}

/** With what was not given. Throws `StaticError` or `WireError`. */
export function checkInviteOptions(
  { expiresInMs = dayMs, uses = 1, replaces }: InviteOptions,
): Pick<KeptInvite, "uses" | "replaces"> & { readonly expiresInMs: number } {
  if (!Number.isInteger(uses) || uses < 1 || uses > limits.inviteUses) {
    throw createError(
      "invalid_request",
      `Cannot invite: uses is a whole number from 1 to ${limits.inviteUses}`,
    );
  }
  if (!(expiresInMs > 0 && expiresInMs <= maxExpiryMs)) {
    throw createError(
      "invalid_request",
      "Cannot invite: expiresInMs is above 0 and at most a year",
    );
  }
  if (replaces !== undefined && uses !== 1) {
    const text =
      "Cannot invite: one agent takes the place of a member; leave `uses` out, or `replaces`";
    throw createError("invalid_request", text);
  }
  return {
    expiresInMs,
    uses,
    replaces: replaces === undefined ? undefined : parseAgentId(replaces),
  };
}

function hashOf({ keyPackage }: DeliveredJoinRequest): string {
  return bytesToHex(sha256(keyPackage));
}
