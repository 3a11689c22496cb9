/**
 * Tests that need something a machine may lack: skipped by name and with the reason, never
 * silently.
 */

export interface Requirement {
  readonly met: boolean;
  /** The missing requirement, as it is shown in the list of skipped tests. */
  readonly reason: string;
}

export function testWhen(
  requirement: Requirement,
  name: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  Deno.test({
    name: requirement.met ? name : `${name} [skipped: ${requirement.reason}]`,
    ignore: !requirement.met,
    fn,
  });
}
