/**
 * Leaving as the rooms around see it. `leaving`: duties rest, and changes reject, but those of
 * leaving itself. `goodbye`: our leaf stays as it is, too.
 */
export type LeaveStage = "staying" | "leaving" | "goodbye";
