/**
 * Twenty mistakes that a person could make in the product. Each compiles, loads, and breaks one
 * promise. The name says what a user would suffer.
 */
import type { PlantedFault } from "./planted_fault.ts";

export const faultsEverywhere: readonly PlantedFault[] = [
  {
    name: "padding-shows-earlier-bytes",
    path: "proto/wire/cell.ts",
    from: "cell.fill(0, at);",
    to: "cell.fill(0, at, at + riderPrefixBytes);",
  },
  {
    name: "key-revoked-during-its-check-is-accepted",
    path: "api/domain/authentication.ts",
    from: "const current = matches ? await store.findKey(parsed.keyPrefix) : undefined;",
    to: "const current = matches ? row : undefined;",
  },
  {
    name: "key-spends-beyond-its-accounts-month",
    path: "api/store/key_leases.ts",
    from:
      "Math.min(\n    wanted,\n    left(limits.account_limit, claimed.account),\n    left(limits.key_limit, claimed.key),\n  )",
    to: "Math.min(wanted, left(limits.key_limit ?? limits.account_limit, claimed.key))",
  },
  {
    name: "flood-of-logins-is-given-back",
    path: "api/domain/rate_limit.ts",
    from: "if (error instanceof Fault && !error.isCallersOwn) await refund();",
    to: "if (error instanceof Fault) await refund();",
  },
  {
    name: "console-change-without-csrf-header",
    path: "api/routes/authorization.ts",
    from: '(!isReading(c) || csrf !== undefined) && !isSameCsrf(csrf ?? "", found.csrf)',
    to: "csrf !== undefined && !isSameCsrf(csrf, found.csrf)",
  },
  {
    name: "expired-token-is-good-for-an-hour",
    path: "relay/tokens/token_verifier.ts",
    from: "clockTolerance: toleranceSeconds,",
    to: "clockTolerance: toleranceSeconds * 1000,",
  },
  {
    name: "message-lost-as-duplicate-of-another-agents",
    path: "relay/core/requests/message_requests.ts",
    from: "`message:${agent.agentId}:${messageId}`",
    to: "`message:${agent.account}:${messageId}`",
  },
  {
    name: "log-trimmed-before-removed-member-has-read",
    path: "relay/core/upkeep/log_retention.ts",
    from:
      "for (const agentId of former.keys()) {\n    through = Math.min(through, channel.cursor(agentId) ?? through);\n  }",
    to:
      'for (const [agentId, { reason }] of former) {\n    if (reason !== "removed") through = Math.min(through, channel.cursor(agentId) ?? through);\n  }',
  },
  {
    name: "removed-member-is-told-of-later-commits",
    path: "relay/core/requests/commit_requests.ts",
    from: "const end = channel.endOf(asker.agent.agentId)?.sequence ?? Infinity;",
    to: "const end = state.closed?.sequence ?? Infinity;",
  },
  {
    name: "commits-forgotten-while-their-authors-are-away",
    path: "relay/core/upkeep/upkeep.ts",
    from: "commitsMs: ago(lapseAgeMs),",
    to: "commitsMs: ago(Math.min(lapseAgeMs, queueAgeMs)),",
  },
  {
    name: "accepted-before-it-is-on-disk",
    path: "relay/engine/group_commit.ts",
    from: 'needsSync ||= outcome === "unconfirmed";',
    to: 'needsSync = outcome === "unconfirmed";',
  },
  {
    name: "two-sessions-of-an-agent-both-count",
    path: "relay/cluster/replica/sessions.ts",
    from: "Math.max(position * sessionsPerPosition, (place?.session ?? 0) + 1)",
    to: "Math.max(position * sessionsPerPosition, place?.session ?? 0)",
  },
  {
    name: "header-limit-for-each-frame-alone",
    path: "proto/http2/header_block.ts",
    from: "checkBlockBytes(this.#bytes += end - start, this.#budgets);",
    to: "checkBlockBytes(end - start, this.#budgets);\n    this.#bytes += end - start;",
  },
  {
    name: "message-key-used-twice-after-a-crash",
    path: "sdk/mls/recorded_group.ts",
    from: "return this.usedKeys >= this.#reservedUntil;",
    to: "return this.usedKeys > this.#reservedUntil;",
  },
  {
    name: "stored-record-exchanged-for-an-older-one",
    path: "sdk/store/record_store.ts",
    from: "if (record.generation !== of.expected) {",
    to: "if (record.generation > of.expected) {",
  },
  {
    name: "stranger-slips-in-beside-a-returning-member",
    path: "sdk/mls/policy_rules.ts",
    from: "if (added.every((agentId) => returning.has(agentId))) return;",
    to: "if (added.some((agentId) => returning.has(agentId))) return;",
  },
  {
    name: "repeated-request-is-handled-twice",
    path: "sdk/content/service.ts",
    from:
      "{ sequence, fields } = incoming;\n    if (sequence > (this.#firstHead ?? Infinity) && fields.again !== true)",
    to: "{ sequence } = incoming;\n    if (sequence > (this.#firstHead ?? Infinity))",
  },
  {
    name: "wrong-passphrase-exits-as-refusal",
    path: "cli/exit_codes.ts",
    from: '    case "passphrase_wrong":\n      return "credential";\n',
    to: "",
  },
  {
    name: "python-waits-a-thousand-times-too-long",
    path: "sdk/python/src/static_sdk/errors.py",
    from: "None if after is None else after / 1000",
    to: "after",
  },
  {
    name: "signature-accepted-in-a-second-form",
    path: "wasm/ed25519_batch.ts",
    from: "if (littleEndian(response) >= order) return undefined;",
    to: "if (littleEndian(response) >= 2n ** 253n) return undefined;",
  },
];
