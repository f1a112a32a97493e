// The stories' `test`: each has a simulator of its own, and the SDK pointed at it.

import { test } from "node:test";

import { Receiver } from "./receiver.js";
import { Simulator } from "./simulator.js";

/** The story is told with `{ simulator, stripe }`. */
export function story(name, tell) {
  test(name, () => withSimulator([], tell));
}

/** With `{ receiver }` as well. With a `secret` all events are delivered there, without one those that the story wants. */
export function storyWithReceiver(secret, name, tell) {
  test(name, async () => {
    const receiver = await Receiver.open();
    const webhooks = secret ? [`${receiver.url}=${secret}`] : [];
    try {
      await withSimulator(webhooks, (world) => tell({ ...world, receiver }));
    } finally {
      receiver.close();
    }
  });
}

async function withSimulator(webhooks, tell) {
  const simulator = await Simulator.start(...webhooks);
  try {
    await tell({ simulator, stripe: simulator.sdk() });
  } finally {
    await simulator.stop();
  }
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
