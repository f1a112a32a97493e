// The stories' `test`: each has a simulator of its own, and the SDK pointed at it.

import { test } from "node:test";

import { Receiver } from "./receiver.js";
import { Simulator } from "./simulator.js";

/** The story is told with `{ simulator, stripe }`. */
export function story(name, tell) {
  test(name, async () => {
    const simulator = await Simulator.start();
    try {
      await tell({ simulator, stripe: simulator.sdk() });
    } finally {
      await simulator.stop();
    }
  });
}

/** With `{ receiver }` as well, to which every event is delivered, signed with `secret`. */
export function storyWithReceiver(secret, name, tell) {
  test(name, async () => {
    const receiver = await Receiver.open();
    const simulator = await Simulator.start(`${receiver.url}=${secret}`);
    try {
      await tell({ simulator, stripe: simulator.sdk(), receiver });
    } finally {
      await simulator.stop();
      receiver.close();
    }
  });
}

/** Paid by card alone, so no page to return to is needed. */
export const LAMP = { amount: 4200, currency: "usd", payment_method_types: ["card"] };

/** Bought and paid in one call. */
export function lamp(payment_method = "pm_card_visa", more = {}) {
  return { ...LAMP, payment_method, confirm: true, ...more };
}

/** What the promise is rejected with. */
export async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was not refused");
}
