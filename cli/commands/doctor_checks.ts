/**
 * The checks of `doctor`, in order. Each returns what it found and, if something is wrong, what to
 * do.
 */
import { agentName } from "../agent_record.ts";
import { listBadges, readHealth, readServiceIssuer, readUsage } from "../../proto/mod.ts";
import {
  authorityAdvice,
  describeNoAnswer,
  issueToken,
  isUnknownAuthority,
  openAccess,
  openApi,
} from "../service/api.ts";
import type { Context } from "../command.ts";
import { Failure, toFailure } from "../failure.ts";
import { loadSdk } from "../lazy_sdk.ts";
import type { SeenCertificate } from "../platform/platform.ts";
import { type TcpAddress, tcpAddressesOf } from "../service/relay_address.ts";
import { reasonOf } from "../disk.ts";
import { requireKey, requireRelay, type Settings, trustOf } from "../service/settings.ts";
import { grouped, span, utc } from "../texts/amounts.ts";

export interface CheckResult {
  /** Skipped: it needs something that an earlier check found broken. */
  readonly state: "ok" | "warning" | "fault" | "skipped";
  readonly text: string;
  /** Advice for the user. */
  readonly advice?: string;
}

export interface Check {
  readonly name: string;
  /** Checks without which this one can only fail as well. */
  readonly needs?: readonly string[];
  readonly run: (context: Context, settings: Settings) => Promise<CheckResult>;
}

const dayMs = 86_400_000;
const [clockWarnMs, clockFaultMs, certificateWarnMs] = [30_000, 300_000, 3 * dayMs];
const quotaWarn = 0.9;
const relayTimeoutMs = 5_000;
const relayAdvice = "Check --relay-url or STATIC_RELAY_URL";

const ok = (text: string): CheckResult => ({ state: "ok", text });
const warning = (text: string, advice: string): CheckResult => ({ state: "warning", text, advice });
const fault = (text: string, advice: string): CheckResult => ({ state: "fault", text, advice });

export const checks: readonly Check[] = [
  { name: "Credentials", run: checkCredentials },
  { name: "API", run: checkApi },
  { name: "API key", needs: ["Credentials", "API"], run: checkKey },
  { name: "Badges", needs: ["API key"], run: checkBadges },
  { name: "Clock", needs: ["API key"], run: checkClock },
  { name: "Quota", needs: ["API key"], run: checkQuota },
  { name: "Relay", run: checkRelay },
  { name: "Certificate", run: checkCertificate },
  { name: "Session", needs: ["API key", "Relay"], run: checkSession },
  { name: "Data folder", run: checkDataFolder },
  { name: "ML-KEM", run: checkMlKem },
];

/**
 * A check that fails is a fault with the failure's own words. `broken` names the checks that did
 * not end well.
 */
export async function runCheck(
  check: Check,
  { context, settings, broken }: {
    readonly context: Context;
    readonly settings: Settings;
    readonly broken: readonly string[];
  },
): Promise<CheckResult> {
  const missing = check.needs?.find((name) => broken.includes(name));
  if (missing !== undefined) {
    return { state: "skipped", text: `not checked, because of: ${missing}` };
  }
  try {
    return await check.run(context, settings);
  } catch (error) {
    const { message, advice = "Check the addresses with: {} whoami" } = toFailure(error);
    return fault(message, advice);
  }
}

async function checkCredentials({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const apiKey = requireKey(settings);
  const prefix = `${apiKey.slice(0, 16)}…`;
  if (settings.key?.from !== "file") {
    return ok(`${prefix} from the ${settings.key?.from ?? "environment"}`);
  }
  const path = platform.folders.credentialsFile;
  const mode = await platform.files.mode(path);
  if (mode !== undefined && (mode & 0o077) !== 0) {
    return warning(
      `${path} can be read by others (mode ${mode.toString(8)})`,
      `chmod 600 ${path}, then {} keys rotate`,
    );
  }
  return ok(`${prefix} from ${path}`);
}

async function checkApi({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const startMs = platform.nowMs();
  const status = await openApi(platform, settings)(readHealth);
  if (status !== "ok") {
    return fault(`${settings.apiUrl} reports its status as "${status}"`, "Look at the API's log");
  }
  return ok(`${settings.apiUrl} answers in ${platform.nowMs() - startMs} ms`);
}

async function checkKey({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const claims = await issueToken(openApi(platform, settings), requireKey(settings));
  return ok(`accepted: account ${claims.accountId}, plan ${claims.plan}`);
}

/** Agents of one account know each other by the badges that the service gives them. */
async function checkBadges({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const [ask, apiKey] = [openApi(platform, settings), requireKey(settings)];
  const issuer = await unless("not_found", ask(readServiceIssuer));
  if (issuer === undefined) return { state: "skipped", text: "this service issues none" };
  const badged = await unless("not_allowed", ask((api) => listBadges(api, apiKey)));
  if (badged === undefined) {
    return { state: "skipped", text: "this key gets none: it lacks the scope badges" };
  }
  return ok(
    `${issuer.domain} has issued ${grouped(badged.agents.length)} to agents of this account`,
  );
}

/** Undefined for a refusal with this code. */
async function unless<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure && error.code === code) return undefined;
    throw error;
  }
}

/**
 * Tokens and certificates are good for a time, so a clock that is far off makes them look expired
 * or not yet valid.
 */
async function checkClock({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const claims = await issueToken(openApi(platform, settings), requireKey(settings));
  const offMs = platform.nowMs() - claims.issuedAtMs;
  const text = `${span(offMs)} ${offMs < 0 ? "behind" : "ahead of"} the API's`;
  const advice = "Set this machine's clock, for instance with timedatectl set-ntp true";
  if (Math.abs(offMs) > clockFaultMs) return fault(text, advice);
  return Math.abs(offMs) > clockWarnMs ? warning(text, advice) : ok("agrees with the API's");
}

async function checkQuota({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const apiKey = requireKey(settings);
  const { messages, period } = await openApi(platform, settings)((api) => readUsage(api, apiKey));
  const { used, limit } = messages;
  if (limit === null) return ok(`${grouped(used)} messages this month, no limit`);
  const text = `${grouped(used)} of ${grouped(limit)} messages used this month`;
  const advice = `It resets ${utc(period.endMs)}; a larger plan raises the limit at once`;
  if (used >= limit) return fault(text, advice);
  return used >= limit * quotaWarn ? warning(text, advice) : ok(text);
}

/** One relay of several that is not well is a warning: agents go to the others. */
async function checkRelay(context: Context, settings: Settings): Promise<CheckResult> {
  const addresses = tcpAddressesOf(requireRelay(settings));
  const findings = await Promise.all(
    addresses.map((address) => checkOneRelay(context, settings, address)),
  );
  const [first, another] = findings;
  if (first === undefined || another === undefined) {
    return first ?? fault("No address is given", relayAdvice);
  }
  const ill = findings.filter(({ state }) => state !== "ok");
  if (ill.length === 0) return ok(findings.map(({ text }) => text).join(", "));
  const text = ill.map(({ text }) => text).join("; ");
  const advice = ill.find((finding) => finding.advice !== undefined)?.advice ?? relayAdvice;
  return ill.length === findings.length
    ? fault(text, advice)
    : warning(`${ill.length} of ${findings.length} relays: ${text}`, advice);
}

async function checkOneRelay(
  { platform }: Context,
  settings: Settings,
  { url, guessed }: TcpAddress,
): Promise<CheckResult> {
  const startMs = platform.nowMs();
  const access = openAccess(platform, {
    url,
    caCerts: relayAuthorities(settings),
    timeoutMs: relayTimeoutMs,
  });
  const answer = await readHealth(access);
  if (answer.outcome === "done" && answer.value === "ok") {
    return ok(`${url} answers in ${platform.nowMs() - startMs} ms`);
  }
  if (answer.outcome !== "unreachable") {
    const status = answer.outcome === "done" ? 200 : answer.status;
    return fault(
      `${url} returned HTTP status ${status}: it is not a relay, or it has a fault`,
      relayAdvice,
    );
  }
  platform.interrupted.throwIfAborted();
  const { cause } = answer;
  if (isUnknownAuthority(cause)) {
    return fault(`${url} presents a certificate that this machine does not trust`, authorityAdvice);
  }
  const why = describeNoAnswer(cause, relayTimeoutMs);
  if (guessed) {
    return warning(
      `only its QUIC port is named, and ${url} does not answer: ${why}`,
      "For agents without QUIC, name its TCP port too: --relay-url quic://host:port,https://host:port",
    );
  }
  return fault(
    `${url} does not answer: ${why}`,
    "Is it running ({start})? If it is elsewhere: --relay-url, or STATIC_RELAY_URL",
  );
}

async function checkCertificate({ platform }: Context, settings: Settings): Promise<CheckResult> {
  const addresses = tcpAddressesOf(requireRelay(settings));
  const inspect = (address: TcpAddress): Promise<SeenCertificate | undefined> =>
    platform.inspectCertificate(address, relayAuthorities(settings)).catch(() => undefined);
  // With several relays, report the most urgent certificate: one that is not trusted, or the next
  // to expire.
  const urgency = (seen: SeenCertificate): number =>
    seen.refused === undefined ? seen.expiresAtMs : 0;
  const shown = (await Promise.all(addresses.map(inspect))).filter((seen) => seen !== undefined);
  const [seen] = shown.sort((a, b) => urgency(a) - urgency(b));
  if (seen === undefined) {
    return {
      state: "skipped",
      text: `no certificate is presented at ${addresses.map(({ url }) => url).join(", ")}`,
    };
  }
  const { expiresAtMs, refused, protocol } = seen;
  if (refused !== undefined) {
    const trusted = settings.caFile ?? settings.relayCaFile ?? "only public authorities";
    return fault(
      `not trusted: ${refused} (trusted: ${trusted})`,
      "Give the relay's ca.pem with --ca-file or STATIC_CA_FILE",
    );
  }
  const leftMs = expiresAtMs - platform.nowMs();
  const text = `valid for ${span(leftMs)}, ${protocol}`;
  return leftMs < certificateWarnMs
    ? warning(text, "The relay's operator has to renew it")
    : ok(text);
}

function relayAuthorities({ caCerts, relayCaCerts }: Settings): readonly string[] {
  return [...caCerts, ...relayCaCerts];
}

/** With an agent made for this, so that one that is running elsewhere is not disturbed. */
async function checkSession(context: Context, settings: Settings): Promise<CheckResult> {
  const { platform } = context;
  const dataDir = await platform.files.makeTemporaryFolder();
  try {
    const { StaticClient } = await loadSdk();
    const startMs = platform.nowMs();
    await using client = await StaticClient.connect({
      endpoint: requireRelay(settings),
      apiKey: requireKey(settings),
      apiUrl: settings.apiUrl,
      tls: trustOf(settings),
      dataDir,
      identity: "doctor",
      badge: false,
      signal: platform.interrupted,
    });
    return ok(
      `connected and authenticated over ${client.transport} in ${platform.nowMs() - startMs} ms`,
    );
  } finally {
    await platform.files.remove(dataDir);
  }
}

/** Post-quantum keys work with both. */
async function checkMlKem(): Promise<CheckResult> {
  const { mlKemInUse } = await loadSdk();
  return ok(
    await mlKemInUse() === "runtime"
      ? "the runtime's"
      : "portable, in JavaScript, which does not promise to take the same time for each key",
  );
}

async function checkDataFolder(context: Context): Promise<CheckResult> {
  const { files, folders } = context.platform;
  const agent = agentName(context);
  try {
    await files.makePrivateFolder(folders.agents);
    const probe = files.join(folders.agents, ".doctor");
    await files.writePrivate(probe, "");
    await files.remove(probe);
  } catch (error) {
    return fault(
      `${folders.agents} cannot be used: ${reasonOf(error)}`,
      "Make it writable, or set XDG_DATA_HOME to another place",
    );
  }
  const names = (await files.list(folders.agents)).filter((name) => !name.startsWith("."));
  const known = names.includes(agent)
    ? `, "${agent}" among them`
    : `; "${agent}" will be created when it is needed`;
  return ok(
    `${folders.agents} holds ${names.length} agent${names.length === 1 ? "" : "s"}${known}`,
  );
}
