/**
 * Renders the error codes of `docs/troubleshooting.md`: by class, with meaning and what to do, from
 * the code's own tables.
 */
import { errorAdvice } from "../../proto/base/error_advice.ts";
import { errorCodes, isErrorCode } from "../../proto/mod.ts";

/** Each class of the SDK with one sentence for programs. */
const classes: Readonly<Record<string, string>> = {
  AuthError: "Credentials and accounts. Do not repeat the call; fix the credential.",
  TransportError:
    "The connection. The SDK reconnects by itself; a call that failed may be repeated if `retryable`.",
  ChannelError: "A channel, or what this agent may do in it.",
  MlsError: "The cryptographic state of a channel.",
  QuotaExceededError: "The plan's limit.",
  InvalidArgumentError: "A mistake in the call. Correct the program.",
  UnavailableError: "The service is busy. Wait for `retryAfterMs`, then repeat.",
  RemovedError: "This agent is no longer a member.",
  RemoteError: "Another member's handler failed.",
  StoreError: "The data directory of this agent.",
  InternalError: "A fault of ours. Please report it.",
};

const [begins, ends] = ["<!-- errors -->\n", "<!-- end of errors -->"];

/** The page with its codes made anew, not yet formatted. */
export function renderErrors(page: string): string {
  const sections = Object.entries(classes).map(([name, sentence]) => {
    const items = Object.entries(errorCodes).filter(([, { errorClass }]) => errorClass === name)
      .map(([code, { http, retryable }]) => {
        if (!isErrorCode(code)) throw new Error(`${code} is not in the list of codes`);
        const { meaning, action } = errorAdvice[code];
        return `- \`${code}\` (${http}${retryable ? ", repeat" : ""}): ${meaning} ${action}`;
      });
    return [`**${name}.** ${sentence}\n`, ...items].join("\n");
  });
  return `${page.slice(0, page.indexOf(begins) + begins.length)}\n${sections.join("\n\n")}\n\n${
    page.slice(page.indexOf(ends))
  }`;
}
