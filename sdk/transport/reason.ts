/** Why something failed, in one line: runtimes hide the telling part of a network error in its causes. */
export function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 3; at = at instanceof Error ? at.cause : undefined) {
    const text = at instanceof Error ? at.message : String(at);
    if (text !== "" && !parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(": ");
}
