/**
 * Why something failed, in one line: runtimes hide the telling part of a network error in its
 * causes.
 */
export function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (
    let at = error;
    at !== undefined && parts.length < 3;
    at = at instanceof Error ? at.cause : undefined
  ) {
    const text = at instanceof Error ? at.message : String(at);
    if (text !== "" && !parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(": ");
}

/**
 * Texts by which Deno, Node and the systems below them say it. A browser does not say why it
 * failed.
 */
const cutOff =
  /ECONNRESET|reset by peer|forcibly closed|tls handshake eof|disconnected before secure TLS/i;

/**
 * Whether somebody took the connection and closed it before it was open. A port that nobody listens
 * on refuses it instead.
 */
export function wasCutOff(error: Error): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (cutOff.test(at.message)) return true;
  }
  return false;
}
