// What is written on a payment, and how it is found by that.

import { deepEqual, equal } from "node:assert/strict";

import { LAMP, lamp, story } from "../lib/story.js";

story("metadata is merged", async ({ stripe }) => {
  const { id } = await stripe.paymentIntents.create({ ...LAMP, metadata: { cart: "7", color: "red" } });
  const changed = await stripe.paymentIntents.update(id, { metadata: { color: "blue", size: "L" } });
  deepEqual(changed.metadata, { cart: "7", color: "blue", size: "L" });
});

story("null unsets", async ({ stripe }) => {
  const purchase = { ...LAMP, description: "A lamp", metadata: { cart: "7", color: "red" } };
  const { id } = await stripe.paymentIntents.create(purchase);
  const changed = await stripe.paymentIntents.update(id, { description: "", metadata: { color: null } });
  deepEqual([changed.description, changed.metadata], [null, { cart: "7" }]);
  deepEqual((await stripe.paymentIntents.update(id, { metadata: null })).metadata, {});
});

story("the amount changes before it is paid", async ({ stripe }) => {
  const { id } = await stripe.paymentIntents.create(LAMP);
  equal((await stripe.paymentIntents.update(id, { amount: 4300 })).amount, 4300);
  const paid = await stripe.paymentIntents.confirm(id, { payment_method: "pm_card_visa" });
  equal(paid.amount_received, 4300);
});

for (const query of ["metadata['cart']:'7'", "metadata['cart']:'7' AND status:'succeeded'"]) {
  story(`a payment is found by its metadata: ${query}`, async ({ stripe }) => {
    const made = [];
    for (let count = 0; count < 3; count++) {
      made.push((await stripe.paymentIntents.create(lamp("pm_card_visa", { metadata: { cart: "7" } }))).id);
    }
    await stripe.paymentIntents.create(lamp("pm_card_visa", { metadata: { cart: "8" } }));
    const found = await stripe.paymentIntents.search({ query, limit: 2 }).autoPagingToArray({ limit: 10 });
    deepEqual(found.map((intent) => intent.id), made.toReversed());
  });
}
