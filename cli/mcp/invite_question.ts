/**
 * Asks the person for an invite. The question is where it is, because a form is not for secrets: a
 * harness may keep what is written into one. The answer goes from the person to this server and
 * past the model.
 */
import {
  acceptedContent,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { refused } from "./refusal.ts";

const question = "invite";
const answer = z.object({
  file: z.string().min(1).max(1000).describe(
    "Full path of a file with the invite token or link, and nothing else",
  ),
});

export function askForInvite(): InputRequiredResult {
  const message =
    "The model wants to join a channel. Save the invite to a file that only you can read, and say where " +
    "it is. Decline if you do not want it to join.";
  return inputRequired({
    inputRequests: { [question]: inputRequired.elicit({ message, requestedSchema: answer }) },
  });
}

/** Where the person says that it is. Throws when they do not. */
export function invitePath(responses: Parameters<typeof inputResponse>[0]): string {
  const view = inputResponse(responses, question);
  if (view.kind !== "elicit" || view.action !== "accept") {
    throw refused("Your user has not given an invite");
  }
  const given = acceptedContent(responses, question, answer);
  if (given === undefined) throw refused("Your user has not said where the invite is");
  return given.file;
}
