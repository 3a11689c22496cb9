/**
 * The machine that compares what members saw of the log, for tests that try every order of its
 * events.
 */
export { stepOrder, wordOf } from "../order/order.ts";
export {
  newOrder,
  type OrderEvent,
  type OrderFinding,
  type OrderRecord,
  orderRecord,
  type OrderState,
  restoreOrder,
} from "../order/order_state.ts";
