/**
 * The invites that this agent has given out. The relay knows an invite's id and counts its uses; whether somebody is let in is
 * decided by what is written here, on our own disk, where every admission is noted before the commit that makes it true.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  equalBytes,
  formatInviteToken,
  type Invite,
  type InviteId,
  inviteIdOf,
  joinMac,
  limits,
  type NoticeBody,
  parseChannelName,
} from "../../proto/mod.ts";
import { invitesKind } from "../channel/records.ts";
import { createError, type StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RelaySession } from "../session/relay_session.ts";
import { Serial } from "../base/serial.ts";
import { decodeFields, encodeFields, type RecordStore } from "../store/mod.ts";

/** How long, and how often, an invite is good. */
export interface InviteOptions {
  /** How long the token is good; one day when not given. */
  readonly expiresInMs?: number;
  /** How many agents may join with it; one when not given. */
  readonly uses?: number;
}

/** An invite that this agent has given out, without its secret. */
export interface InviteState {
  /** By which it can be revoked; no secret. */
  readonly id: string;
  /** The channel that it is for. */
  readonly channel: ChannelName;
  /** When it ends, by the relay's clock. */
  readonly expiresAtMs: number;
  /** How many agents may join with it. */
  readonly uses: number;
  /** How many have. */
  readonly used: number;
}

interface InviteRecord {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly secret: Uint8Array;
  /** By the relay's clock. */
  readonly expiresAtMs: number;
  /** By our own: a relay can make its clock say anything. */
  readonly expiresHereAtMs: number;
  readonly uses: number;
  /**
   * Hashes of the KeyPackages that may come in, in hexadecimal, and the channel's epoch when that was decided: a request that
   * comes again is no second use, and of no use at all when its agent has been a member since then.
   */
  readonly admitted: ReadonlyMap<string, number>;
}

export interface InviteBookDeps {
  readonly store: Pick<RecordStore, "get" | "put" | "delete" | "list">;
  readonly session: Pick<RelaySession, "call">;
  readonly runtime: Pick<Runtime, "randomBytes" | "nowMs">;
  readonly agentId: AgentId;
  readonly relayNowMs: () => number;
}

const secretBytes = 32;
const dayMs = 24 * 60 * 60 * 1000;
const maxExpiryMs = 365 * dayMs;

type JoinRequest = NoticeBody<"DeliverJoinRequest">;

export class InviteBook {
  readonly #deps: InviteBookDeps;
  /** What is read and written again: an invite that is revoked meanwhile must not come back. */
  readonly #changes = new Serial();

  constructor(deps: InviteBookDeps) {
    this.#deps = deps;
  }

  /** A token for a channel that this agent is in. It is on our disk before anybody can have it. */
  async create(
    channel: { readonly channelId: ChannelId; readonly name: ChannelName },
    { expiresInMs = dayMs, uses = 1 }: InviteOptions,
  ): Promise<string> {
    const { channelId, name } = channel;
    if (!Number.isInteger(uses) || uses < 1 || uses > limits.inviteUses) {
      throw createError("invalid_request", `Cannot invite: uses is a whole number from 1 to ${limits.inviteUses}`);
    }
    if (!(expiresInMs > 0 && expiresInMs <= maxExpiryMs)) {
      throw createError("invalid_request", "Cannot invite: expiresInMs is above 0 and at most a year");
    }
    const secret = this.#deps.runtime.randomBytes(secretBytes);
    const inviteId = inviteIdOf(secret);
    const expiresAtMs = Math.ceil(this.#deps.relayNowMs() + expiresInMs);
    const expiresHereAtMs = Math.ceil(this.#deps.runtime.nowMs() + expiresInMs);
    await this.#put(inviteId, { channelId, name, secret, expiresAtMs, expiresHereAtMs, uses, admitted: new Map() });
    await this.#deps.session.call("RegisterInvite", { channelId, inviteId, expiresAtMs, uses });
    return formatInviteToken({ channelId, name, inviter: this.#deps.agentId, secret });
  }

  /** Those of a channel that somebody could join with. */
  async list(channelId: ChannelId): Promise<InviteState[]> {
    const records = (await this.#deps.store.list(invitesKind(channelId))).map(({ id, value }) => ({
      id,
      ...decode(channelId, value),
    }));
    return records.filter((each) => !this.#isOver(each) && each.admitted.size < each.uses)
      .map(({ id, name, expiresAtMs, uses, admitted }) => ({
        id,
        channel: name,
        expiresAtMs,
        uses,
        used: admitted.size,
      }));
  }

  /** Nobody joins with it any more, whatever the relay does. */
  async revoke({ channelId, secret }: Pick<Invite, "channelId" | "secret">): Promise<void> {
    await this.revokeById(channelId, inviteIdOf(secret));
  }

  /** Returns whether there was one. */
  async revokeById(channelId: ChannelId, inviteId: InviteId): Promise<boolean> {
    if (await this.#get(channelId, inviteId) === undefined) return false;
    await this.#changes.run(() => this.#deps.store.delete(invitesKind(channelId), inviteId));
    await this.#deps.session.call("RevokeInvite", { channelId, inviteId });
    return true;
  }

  /**
   * Whether a request is by somebody with the invite's secret and for this very KeyPackage. If so its use is counted. `epoch`
   * is that of the channel; answers the one in which the request was first admitted.
   */
  admit(request: JoinRequest, epoch: number): Promise<number | StaticError> {
    return this.#changes.run(async () => {
      const { inviteId, channelId, keyPackage, mac } = request;
      const invite = await this.#get(channelId, inviteId);
      if (invite === undefined) {
        return createError("join_rejected", "The invite is not known or was revoked; ask for a new one");
      }
      const { name, secret, admitted } = invite;
      const expected = joinMac(secret, { channelId, name, inviter: this.#deps.agentId, keyPackage });
      if (!equalBytes(expected, mac)) {
        return createError(
          "join_rejected",
          "The request was not made with the invite's secret, or was changed on its way",
        );
      }
      if (this.#isOver(invite)) return createError("join_rejected", "The invite has expired; ask for a new one");
      const hash = hashOf(request);
      const before = admitted.get(hash);
      if (before !== undefined) return before;
      if (admitted.size >= invite.uses) {
        return createError("join_rejected", "The invite has been used as often as it may; ask for a new one");
      }
      await this.#put(inviteId, { ...invite, admitted: new Map(admitted).set(hash, epoch) });
      return epoch;
    });
  }

  /** The epoch in which this very KeyPackage was admitted, if it was. */
  async admittedIn(request: JoinRequest): Promise<number | undefined> {
    return (await this.#get(request.channelId, request.inviteId))?.admitted.get(hashOf(request));
  }

  /** Deletes what has expired of a channel's invites. */
  async tidy(channelId: ChannelId): Promise<void> {
    const kind = invitesKind(channelId);
    const over = (await this.#deps.store.list(kind)).filter(({ value }) =>
      this.#isOver(decode(channelId, value), dayMs)
    );
    for (const { id } of over) await this.#deps.store.delete(kind, id);
  }

  /** By either clock; both are given `graceMs` more. */
  #isOver({ expiresAtMs, expiresHereAtMs }: InviteRecord, graceMs = 0): boolean {
    const { relayNowMs, runtime } = this.#deps;
    return relayNowMs() > expiresAtMs + graceMs || runtime.nowMs() > expiresHereAtMs + graceMs;
  }

  async #get(channelId: ChannelId, inviteId: InviteId): Promise<InviteRecord | undefined> {
    const record = await this.#deps.store.get(invitesKind(channelId), inviteId);
    return record === undefined ? undefined : decode(channelId, record);
  }

  async #put(inviteId: InviteId, invite: InviteRecord): Promise<void> {
    const { channelId, name, secret, expiresAtMs, expiresHereAtMs, uses, admitted } = invite;
    const rows = [...admitted].map(([hash, epoch]) => [hash, epoch]);
    const value = encodeFields([name, secret, expiresAtMs, expiresHereAtMs, uses, rows]);
    await this.#deps.store.put(invitesKind(channelId), inviteId, value);
  }
}

function decode(channelId: ChannelId, record: Uint8Array): InviteRecord {
  const fields = decodeFields(record, "invites");
  return {
    channelId,
    name: parseChannelName(fields.text(0)),
    secret: fields.bytes(1),
    expiresAtMs: fields.number(2),
    expiresHereAtMs: fields.number(3),
    uses: fields.number(4),
    admitted: new Map(fields.rows(5).map((row) => [row.text(0), row.number(1)])),
  };
}

function hashOf({ keyPackage }: JoinRequest): string {
  return bytesToHex(sha256(keyPackage));
}
