/**
 * Renders `docs/errors.md`: every error code by class, with its meaning and what to do, from the
 * code's own tables.
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

const introduction = `# Error codes

Programs check \`code\` (or the class), never the text. The HTTP API answers with
\`{"error", "code", "request_id", "details"}\`, the SDK throws subclasses of \`StaticError\`, Python raises classes of the same
names, and the CLI prints the code with \`--json\`. No code is ever renamed; treat an unknown one as its class.
"Repeat" says whether the same call may succeed later with nothing changed (\`error.retryable\`).
Close codes and gRPC statuses are in [protocol](protocol.md#errors).

This page is generated from \`proto/base/errors.ts\` and \`proto/base/error_advice.ts\`.
`;

/** Returns the page as Markdown, not yet formatted. */
export function renderErrors(): string {
  const sections = Object.entries(classes).map(([name, sentence]) => {
    const rows = Object.entries(errorCodes).filter(([, { errorClass }]) => errorClass === name).map(
      ([code, mapping]) => {
        if (!isErrorCode(code)) throw new Error(`${code} is not in the list of codes`);
        const { meaning, action } = errorAdvice[code];
        return `| \`${code}\` | ${mapping.http} | ${
          mapping.retryable ? "yes" : "no"
        } | ${meaning} | ${action} |`;
      },
    );
    return [
      `## ${name}\n\n${sentence}\n`,
      "| code | HTTP | repeat | meaning | what to do |",
      "|---|---|---|---|---|",
      ...rows,
    ]
      .join("\n");
  });
  return `${introduction}\n${sections.join("\n\n")}\n`;
}
