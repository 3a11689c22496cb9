/** The environment of this process. */

export function ownVariable(name: string): string | undefined {
  return Deno.env.get(name);
}

/**
 * Names of all variables, where this process may list them: Deno allows that only to one that may
 * read every variable. The tasks look at the names before they start a part that may read its own
 * alone.
 */
export function ownNames(): readonly string[] {
  return Deno.permissions.querySync({ name: "env" }).state === "granted"
    ? Object.keys(Deno.env.toObject())
    : [];
}
