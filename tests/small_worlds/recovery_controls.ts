/** The real step of recovery with one rule taken out: the worlds must find each of them. */
import { foundingEpoch } from "../../proto/mod.ts";
import { type RecoveryStep, stepRecovery } from "../../sdk/channel/testing/recovery.ts";

type Given = Parameters<typeof stepRecovery>;

/** A generation is entered on a connection that has shown nothing. */
export function enteredWithoutPermit(...[state, event, facts]: Given): RecoveryStep {
  return stepRecovery(state, event, {
    ...facts,
    permit: facts.permit ?? JSON.parse('{"number":1}'),
  });
}

/** A founding is sent before it is on disk. */
export function sentBeforeDisk(...[state, event, facts]: Given): RecoveryStep {
  const { write, effects } = stepRecovery(state, event, facts);
  return { write: write.filter(({ type }) => type !== "founding"), effects };
}

/**
 * A founding goes with the group that it was made in, also when the agent is let in by a Welcome.
 */
export function foundingForgotten(...[state, event, facts]: Given): RecoveryStep {
  const { write, effects } = stepRecovery(state, event, facts);
  if (!write.some(({ type }) => type === "membership")) return { write, effects };
  const gone = state.made.map(({ hash }) => ({ type: "no_founding", hash }) as const);
  state.made = [];
  return { write: [...write, ...gone], effects };
}

/** A member that asks to be let in behind a founding of ours tells us nothing. */
export function deafFounder(...[state, event, facts]: Given): RecoveryStep {
  const isLeft = event.type === "asker" && foundingEpoch(event.generation) > facts.epoch &&
    event.generation > 0;
  return isLeft ? { write: [], effects: [] } : stepRecovery(state, event, facts);
}

/** A call that named whom to leave out returns like any other, although somebody of them is in. */
export function namedIgnored(...[state, event, facts]: Given): RecoveryStep {
  state.recovering = state.recovering.map((call) => ({ ...call, isNamed: false }));
  return stepRecovery(state, event, facts);
}

/** A stop is not on disk. */
export function stopInMemory(...[state, event, facts]: Given): RecoveryStep {
  const { write, effects } = stepRecovery(state, event, facts);
  return {
    write: write.filter((change) => change.type !== "stopped" || change.bad === undefined),
    effects,
  };
}
