/**
 * How QUIC connections behave, for the relay and for the proxy that dials it. A peer that vanished
 * is noticed after the idle time; keep-alives hold a quiet but living one, and come more often than
 * address translators forget UDP (30 s). "low-latency" is BBR, which measures the path: the default
 * takes every packet that is lost or overtaken for congestion, and at 30 % loss comes down to a
 * packet or two a second.
 */
export const quicOptions = {
  maxIdleTimeout: 36_000,
  keepAliveInterval: 12_000,
  congestionControl: "low-latency",
} as const;

/**
 * While very many handshakes are under way, most of them may be somebody's who never answers, and
 * each stays for the idle time. So it is shorter then, for all that come; those who do answer keep
 * these times, which cost a little more.
 */
export const hurriedTimes = { maxIdleTimeout: 10_000, keepAliveInterval: 4_000 } as const;
