/**
 * The reader test: questions of three kinds of readers, written before the pages. Each has the page
 * that answers it and words of the answer. A test checks that the page is at most two clicks from
 * the index and has these words.
 */

export interface Question {
  readonly reader: "newcomer" | "developer" | "operator";
  readonly question: string;
  readonly page: string;
  /** Words of the answer, as they stand on the page, in one paragraph or row. */
  readonly answer: string;
}

export const questions: readonly Question[] = [
  {
    reader: "newcomer",
    question: "What is it?",
    page: "README.md",
    answer: "Encrypted channels for software agents",
  },
  {
    reader: "newcomer",
    question: "Can the server read messages?",
    page: "docs/security.md",
    answer: "Cannot read messages",
  },
  {
    reader: "newcomer",
    question: "How do I start it?",
    page: "README.md",
    answer: "npx -y deno@2.9.5 task start",
  },
  {
    reader: "newcomer",
    question: "What does it cost in traffic?",
    page: "README.md",
    answer: "50 MB",
  },
  {
    reader: "newcomer",
    question: "How is it different from agents on NATS, or A2A with MLS?",
    page: "README.md",
    answer: "draft-chapman-a2a-mls",
  },
  {
    reader: "newcomer",
    question: "What is missing?",
    page: "README.md",
    answer: "Post-quantum signatures",
  },
  {
    reader: "newcomer",
    question: "What is an epoch?",
    page: "docs/glossary.md",
    answer: "The state of a channel between two commits",
  },
  {
    reader: "newcomer",
    question: "How many messages are free?",
    page: "docs/capacity.md",
    answer: "free 10,000",
  },
  {
    reader: "newcomer",
    question: "How does somebody without an account join?",
    page: "docs/members.md",
    answer: "static channel join",
  },
  {
    reader: "newcomer",
    question: "Where do I get help?",
    page: "SUPPORT.md",
    answer: "report a bug",
  },

  {
    reader: "developer",
    question: "How do I send and receive in Python?",
    page: "sdk/python/README.md",
    answer: "bob.receive(room, timeout=10)",
  },
  {
    reader: "developer",
    question: "Which methods does a channel have?",
    page: "docs/sdk.md",
    answer: "receiveEnvelope(options)",
  },
  {
    reader: "developer",
    question: "Can a message come twice?",
    page: "docs/guarantees.md",
    answer: "at least once to the program",
  },
  {
    reader: "developer",
    question: "What do I do about rate_limited?",
    page: "docs/troubleshooting.md",
    answer: "Wait for the time in `Retry-After`",
  },
  {
    reader: "developer",
    question: "How do I ask a member and wait for its reply?",
    page: "docs/tutorial.md",
    answer: "channel.request(",
  },
  {
    reader: "developer",
    question: "How do two programs use one agent?",
    page: "docs/host.md",
    answer: "serves other programs of the same user",
  },
  {
    reader: "developer",
    question: "How large may a message be?",
    page: "docs/capacity.md",
    answer: "1 MiB",
  },
  {
    reader: "developer",
    question: "What must a container keep?",
    page: "docs/deploy.md",
    answer: "the directory is the agent",
  },
  {
    reader: "developer",
    question: "Which versions work together?",
    page: "docs/maintenance.md",
    answer: "Members of different releases work together",
  },
  {
    reader: "developer",
    question: "How do I connect a model?",
    page: "docs/agents.md",
    answer: "mcpServers",
  },

  {
    reader: "operator",
    question: "Which variables are there?",
    page: "docs/configuration.md",
    answer: "STATIC_RELAY_SESSIONS_PER_ACCOUNT",
  },
  {
    reader: "operator",
    question: "Which ports must be open, and which closed?",
    page: "docs/deploy.md",
    answer: "must not expose ports 9464",
  },
  {
    reader: "operator",
    question: "How do I back up a relay that runs?",
    page: "docs/maintenance.md",
    answer: "send `SIGUSR1`",
  },
  {
    reader: "operator",
    question: "How much memory for 2,000 agents?",
    page: "docs/capacity.md",
    answer: "A × 0.16 MiB",
  },
  {
    reader: "operator",
    question: "In which order do I upgrade?",
    page: "docs/maintenance.md",
    answer: "**Relays**: replace the code, restart",
  },
  {
    reader: "operator",
    question: "An API key leaked. What now?",
    page: "docs/maintenance.md",
    answer: "`static keys revoke`",
  },
  {
    reader: "operator",
    question: "What should wake me up?",
    page: "docs/operations.md",
    answer: "alert on",
  },
  {
    reader: "operator",
    question: "An agent does not connect. Why?",
    page: "docs/troubleshooting.md",
    answer: "address missing in `STATIC_RELAY_ORIGINS`",
  },
  {
    reader: "operator",
    question: "How do I change somebody's plan?",
    page: "docs/capacity.md",
    answer: "deno task admin set-plan",
  },
  {
    reader: "operator",
    question: "A channel is stopped. What now?",
    page: "docs/troubleshooting.md",
    answer: "static channel recover NAME",
  },
];
