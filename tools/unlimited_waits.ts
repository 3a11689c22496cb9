/**
 * Finds calls of API, relay and `start` that could wait for ever for something outside their
 * process, and limits of such calls that are not in the table `server/waits.ts`. It sees single
 * calls by their form. It does not see an `await` of a promise that nobody settles: those are found
 * by tests that freeze the other side.
 */
import { lineAt, type SourceFile } from "./source.ts";

interface WaitingCall {
  readonly form: RegExp;
  /** A word among its arguments that limits it. */
  readonly limit?: RegExp;
  readonly what: string;
}

const calls: readonly WaitingCall[] = [
  {
    form: /(?<=\bawait |\breturn |=> |= |\()fetch\(/g,
    limit: /\bsignal\b/,
    what: "fetch() without a signal",
  },
  {
    form: /\bDeno\.connect\w*(?:<\w+>)?\(/g,
    limit: /\bsignal\b/,
    what: "a connection without a signal",
  },
  { form: /\bjetstream\.publish\(/g, limit: /\btimeout\b/, what: "an entry without a timeout" },
  {
    form: /\bconnection\.request\(/g,
    limit: /\btimeout\b/,
    what: "a question to the nodes without a timeout",
  },
  {
    form: /(?<!\bget )\bjetstream(?:Manager)?\(/g,
    limit: /\btimeout\b/,
    what: "a client of the nodes without a timeout",
  },
  {
    form: /(?<!\bwithin\([^;]*)\bconnection\.(?:flush|drain)\(/g,
    what: "a flush outside of within()",
  },
  { form: /\bnew Worker\(/g, what: "a worker may never answer" },
  { form: /\bnew Promise(?:<\w+>)?\(\(\) => \{\}\)/g, what: "a promise that nobody settles" },
];

/** A limit at the call itself. */
const limits = /\b(?:AbortSignal\.timeout|within)\(\s*([\w.]+)|\btimeout:\s*([\w.]+)/g;
const marker = "// limit: ";
const inScope = /^(?:api|relay|server|deploy)\/|^start\.ts$/;
/** The browser's part of the console, and where the table is. */
const exempt = /^api\/console\/|^server\/waits\.ts$/;

export function unlimitedWaits(
  file: SourceFile,
): { readonly index: number; readonly what: string }[] {
  if (!inScope.test(file.path) || exempt.test(file.path)) return [];
  const { code } = file;
  const unlimited = calls.flatMap(({ form, limit, what }) =>
    Array.from(code.matchAll(form))
      .filter(({ 0: text, index }) =>
        limit === undefined || !limit.test(argumentsAt(code, index + text.length))
      )
      .map(({ index }) => ({ index, what: `${what}: limit it, or say what does with ${marker}…` }))
  );
  const elsewhere = Array.from(code.matchAll(limits))
    .filter(({ 1: first, 2: second }) => isOwnNumber(code, first ?? second ?? ""))
    .map(({ index }) => ({
      index,
      what: "a limit of its own: enter it in server/waits.ts with what happens then",
    }));
  return [...unlimited, ...elsewhere].filter(({ index }) => !isExplained(file.text, index));
}

/** The text up to the bracket that closes the call. */
function argumentsAt(code: string, start: number): string {
  let depth = 1;
  let end = start;
  for (; end < code.length && depth > 0; end++) {
    depth += "([{".includes(code[end] ?? "") ? 1 : ")]}".includes(code[end] ?? "") ? -1 : 0;
  }
  return code.slice(start, end);
}

/** A number, or a constant of this file that is one. */
function isOwnNumber(code: string, value: string): boolean {
  return /^[0-9]/.test(value) ||
    new RegExp(`\\bconst ${value.replaceAll(".", "\\.")} = [0-9]`).test(code);
}

function isExplained(text: string, index: number): boolean {
  const line = lineAt(text, index);
  return text.split("\n").slice(Math.max(0, line - 2), line).some((near) => near.includes(marker));
}
