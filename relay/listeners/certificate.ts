/** What both ports show to their clients. */
export interface Certificate {
  /** PEM: the certificate and what leads to its root. */
  readonly cert: string;
  /** PEM: its private key. */
  readonly key: string;
}
