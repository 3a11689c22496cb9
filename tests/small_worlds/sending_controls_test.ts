/** Guards of the outbox, each taken out: the world finds the fault that it is for. */
import { checkFound, isStuck } from "./explore.ts";
import { sendingControls } from "./sending_controls.ts";
import { type SendingBudgets, sentMessages } from "./sent_messages.ts";

function finds(
  control: string,
  promise: string,
  left: Partial<SendingBudgets>,
  mayBundle = true,
): void {
  Deno.test(`the world finds ${promise} without a guard: ${control}`, () => {
    const rules = sendingControls[control];
    if (rules === undefined) throw new Error(`no control ${control}`);
    checkFound(sentMessages(left, { ...rules, mayBundle }), promise);
  });
}

finds("diskAfterDeed", "S1", { messages: 2, kill: 1 });
finds("runGoesOn", isStuck, { messages: 1, busy: 1 });
finds("impatient", "S6", { messages: 2, busy: 1 }, false);
finds("untold", "L2", { queued: 1 });
finds("unaccounted", "S6", { messages: 2, refused: 1 }, false);
finds("sealedAnew", "an honest relay", { messages: 1, lost: 1 });
finds("besideAnotherEpoch", "S6", { messages: 2, commit: 1 }, false);
finds("unasked", "S6", { groups: 1, quota: 1, kill: 1, again: 1 });
finds("notWithdrawn", "S6", { messages: 1, withdrawn: 1 });
