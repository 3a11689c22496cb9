/**
 * The meaning of every error code in one sentence, and what to do about it, with links as in
 * `docs/`. the list of errors and the API's own documentation are made from it. A module of its
 * own, because no client needs it.
 */
import type { ErrorCode } from "./errors.ts";

export interface Advice {
  readonly meaning: string;
  readonly action: string;
}

export const errorAdvice: Readonly<Record<ErrorCode, Advice>> = {
  join_timeout: {
    meaning: "No member answered the join request in time.",
    action: "Check that the inviter's program runs. Then join again with the same invite.",
  },
  auth_failed: {
    meaning: "The credential is missing, malformed or wrong.",
    action:
      "Check the API key or password. If the key works elsewhere, check `STATIC_RELAY_ORIGINS` of the relay and the clock.",
  },
  auth_key_invalid: {
    meaning: "The API key is unknown, revoked, expired, or of the other environment.",
    action: "Create a new key: `static login`, or `static keys create` with a key that works.",
  },
  transport_error: {
    meaning: "The connection to the relay was lost.",
    action:
      "Nothing: the SDK reconnects. If it lasts, see [debug a connection](troubleshooting.md#an-agent-does-not-connect).",
  },
  connection_error: {
    meaning: "A connection could never be made.",
    action:
      "Run `static doctor`; see [debug a connection](troubleshooting.md#an-agent-does-not-connect).",
  },
  listener_died: {
    meaning: "The background task, host or driver that held the agent has failed.",
    action: "Close the client and connect again. Report it if it repeats.",
  },
  channel_error: {
    meaning: "The channel name is invalid.",
    action: "Use three parts, `org/namespace/service`: lower-case letters, digits, hyphens.",
  },
  quota_exceeded: {
    meaning: "The plan's messages of this month, or a key's own limit, are used up.",
    action:
      "Wait for the next month, or ask the operator for another plan. `static usage` shows the numbers.",
  },
  mls_error: {
    meaning: "The agent's MLS state does not match the channel's.",
    action:
      "Look at `channel.health()`. The agent rejoins by itself; if it cannot, it needs a new invite.",
  },
  invalid_request: {
    meaning: "A value breaks a rule of the interface.",
    action: "Correct the value that the text names.",
  },
  not_found: {
    meaning: "It does not exist, or this agent or account may not know of it.",
    action:
      "Check name, id and account. Non-members get the same error as for a channel that does not exist.",
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this HTTP method.",
    action: "Use a method from the `Allow` header.",
  },
  payload_too_large: {
    meaning: "A message, commit or body is above its limit.",
    action: "Send less at once; see [limits](capacity.md#limits).",
  },
  unsupported_media_type: {
    meaning: "The body is not JSON in UTF-8.",
    action: "Set `content-type: application/json`.",
  },
  rate_limited: {
    meaning: "Too many requests of this account or address.",
    action: "Wait for the time in `Retry-After` (`error.retryAfterMs`), then try again.",
  },
  internal: {
    meaning: "The service has a fault.",
    action: "Report it with the request id; the log line of that id has the reason.",
  },
  overloaded: {
    meaning: "The service is too busy, or a part that it needs is away.",
    action:
      "Try again after `Retry-After`. The request may have taken effect: repeat it only if that is safe.",
  },
  email_taken: {
    meaning: "An account with this e-mail address exists.",
    action: "Log in instead. If somebody else registered your address: `static account claim`.",
  },
  key_limit_reached: {
    meaning: "The account has as many active keys as it may.",
    action: "Revoke keys that are not used.",
  },
  account_suspended: {
    meaning: "An operator suspended the account.",
    action: "Ask the operator. `GET /v1/account` still works and shows the reason.",
  },
  conflict: {
    meaning: "It was changed by somebody else at the same time.",
    action: "Read it again, then repeat the change.",
  },
  code_invalid: {
    meaning: "A code from a mail is wrong, used, or older than 60 minutes.",
    action: "Ask for a new code.",
  },
  csrf_failed: {
    meaning: "A change with the console's cookie lacks its CSRF header.",
    action: "Reload the console.",
  },
  protocol_error: {
    meaning: "The other side sent bytes that are not a cell or envelope.",
    action: "Check that the address is that of a relay. Report it if both sides are ours.",
  },
  unsupported_version: {
    meaning: "The two sides have no version in common, or data was written by a newer version.",
    action: "Update the side that the text names; see [versions](maintenance.md#versions).",
  },
  unknown_operation: {
    meaning: "The relay does not know this operation.",
    action: "Update the relay.",
  },
  session_expired: {
    meaning: "The token expired and was not renewed.",
    action: "Connect again. A client with an API key renews tokens by itself.",
  },
  session_replaced: {
    meaning: "The same agent has connected again elsewhere.",
    action: "Run one program for each agent, or share the agent through its [host](host.md).",
  },
  slow_reader: {
    meaning: "The program read too slowly and was disconnected.",
    action: "Nothing is lost: it continues at its position. Read faster, or acknowledge by hand.",
  },
  relay_draining: {
    meaning: "The relay is stopping.",
    action: "Nothing: the SDK reconnects after the time that the relay tells.",
  },
  certificate_changed: {
    meaning: "The service has another certificate authority than before, or than the link says.",
    action:
      "Compare both fingerprints with the operator. Then log in again, or ask for a new link.",
  },
  name_taken: {
    meaning: "The account has a channel of this name.",
    action:
      "Open it as the agent that is in it, join it with an invite, or choose another name. `static channel close NAME` closes it for all its members.",
  },
  epoch_conflict: {
    meaning: "Another commit came first.",
    action: "Nothing: the SDK applies it and tries again.",
  },
  state_conflict: {
    meaning: "The agent's keys are not those of the channel's group.",
    action:
      "Nothing: the agent rejoins. If it cannot, `health()` says so, and it needs a new invite.",
  },
  not_allowed: {
    meaning: "The agent or key may not do this.",
    action: "Ask an owner of the channel, or use a key with the scope that the text names.",
  },
  member_limit_reached: {
    meaning: "The channel has 1,000 members.",
    action: "Remove members, or use a second channel.",
  },
  already_member: {
    meaning: "The agent is in the channel already.",
    action: "Open the channel with `channel(name)`.",
  },
  identity_present: {
    meaning:
      "A member of the channel has this identity under another key. The text names its agent id.",
    action:
      "Use another identity. If that member's keys are lost, an owner invites with `replaces` and the agent id that its own `members()` shows.",
  },
  queue_full: {
    meaning: "The channel's queue, or its log of commits, is full.",
    action: "Try again later. Remove members that never read.",
  },
  storage_full: {
    meaning: "The account's storage at the relay, or the relay's disk, is full.",
    action: "Close channels, remove absent members. Operators: see [capacity](capacity.md).",
  },
  cursor_invalid: {
    meaning: "The position is outside the log or the membership.",
    action: "Nothing for users of the SDK. Other clients subscribe from their joining entry.",
  },
  key_package_invalid: {
    meaning: "The KeyPackage's signature, suite, credential or lifetime is wrong.",
    action: "Check the clock of the machine that made it. Make a new one.",
  },
  key_package_missing: {
    meaning: "The agent has no KeyPackage at the relay.",
    action: "Let the agent connect once; it uploads new ones.",
  },
  join_rejected: {
    meaning: "The invite is expired, used, revoked or forged, or the inviter was removed.",
    action: "Ask for a new invite. The text gives the reason.",
  },
  membership_lapsed: {
    meaning: "The agent was absent for 30 days or 10,000 commits.",
    action: "Nothing: it asks to rejoin. If no member can let it in, it needs a new invite.",
  },
  link_invalid: {
    meaning: "The link was cut short or changed, or is not a link.",
    action: "Copy it again in full.",
  },
  removed: {
    meaning: "An owner removed this agent from the channel.",
    action: "Ask an owner for a new invite.",
  },
  members_must_update: {
    meaning: "Some agents run a version without policies, guests, badges or post-quantum keys.",
    action: "Update the agents in `error.members`.",
  },
  successor_needed: {
    meaning: "The last owner cannot leave a channel with other members.",
    action: "Promote a member first, or leave with a successor.",
  },
  choice_needed: {
    meaning:
      "A recovery would leave out many members, or those of one door: an owner must say who goes.",
    action:
      "Look at `previewRecovery()`. `recover({ without: [] })` always works and leaves out one agent; with " +
      "`error.members` it ends an attack, and may put out honest members of one door.",
  },
  not_attested: {
    meaning: "An agent has no badge of an issuer that the channel, or the one who joins, requires.",
    action: "Get a badge of an issuer that the text names, or ask an owner which ones count.",
  },
  members_not_attested: {
    meaning: "Members have no badge of the issuers that an owner wants to require.",
    action: "Give the members in `error.members` badges, or name them in `remove`.",
  },
  content_invalid: {
    meaning: "A message does not have the form that the receiver expects.",
    action: "Compare the media type and schema of sender and receiver.",
  },
  request_timeout: {
    meaning: "No reply came before the request's deadline.",
    action:
      "Check that the other member serves. Ask again with the same `key` to avoid double work.",
  },
  remote_error: {
    meaning: "The other member's handler failed.",
    action: "Look at `error.remoteCode` and the text, which come from that member.",
  },
  store_locked: {
    meaning: "Another process uses the data directory.",
    action: "End it, use another directory, or share the agent through its [host](host.md).",
  },
  store_corrupt: {
    meaning: "A record of the data directory is damaged or was rolled back.",
    action: "Run `static agent verify`, then `static agent repair`; see [store](keys.md).",
  },
  store_full: {
    meaning:
      "The disk of the data directory is full, or the browser has no more room for the site.",
    action: "Free space, then connect again. Nothing that was acknowledged is lost.",
  },
  store_failed: {
    meaning:
      "The disk refused a read or write: read-only, not permitted, or broken. The text says which.",
    action: "Do what the text says, then connect again.",
  },
  passphrase_wrong: {
    meaning: "The passphrase does not open the data directory.",
    action: "Use the right passphrase. It cannot be recovered.",
  },
};
