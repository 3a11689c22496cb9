/**
 * The start of what builds, tests and measures: a misspelt seed would repeat nothing, and say so to
 * nobody.
 */
import { faultsOfNames } from "../proto/base/variables.ts";
import { exitCodes } from "./exit_code.ts";

export function refuseUnknownVariables(): void {
  const faults = faultsOfNames(Object.keys(Deno.env.toObject()));
  if (faults.length === 0) return;
  console.error(faults.join("\n"));
  Deno.exit(exitCodes.wrongArguments);
}
