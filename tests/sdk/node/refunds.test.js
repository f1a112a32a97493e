// The money goes back: all of it, a part, and never more than there is.

import { deepEqual, equal } from "node:assert/strict";

import { lamp, refusal, story } from "../lib/story.js";

const refunds = async (simulator) => (await simulator.control("GET", "ledger")).refunds;

story("a payment is refunded in full", async ({ stripe, simulator }) => {
  const paid = await stripe.paymentIntents.create(lamp());
  const refund = await stripe.refunds.create({ payment_intent: paid.id, reason: "requested_by_customer" });
  deepEqual([refund.status, refund.amount, refund.charge], ["succeeded", 4200, paid.latest_charge]);
  const charge = await stripe.charges.retrieve(paid.latest_charge);
  deepEqual([charge.refunded, charge.amount_refunded], [true, 4200]);
  equal((await stripe.paymentIntents.retrieve(paid.id)).status, "succeeded");
  equal((await refunds(simulator)).amount_succeeded, 4200);
});

story("parts are refunded until nothing is left", async ({ stripe }) => {
  const paid = await stripe.paymentIntents.create(lamp());
  const first = await stripe.refunds.create({ charge: paid.latest_charge, amount: 1200 });
  equal((await stripe.charges.retrieve(paid.latest_charge)).refunded, false);
  const rest = await stripe.refunds.create({ payment_intent: paid.id });
  equal(rest.amount, 3000);
  const { data } = await stripe.refunds.list({ payment_intent: paid.id });
  deepEqual(data.map((refund) => refund.id), [rest.id, first.id]);
  const error = await refusal(stripe.refunds.create({ payment_intent: paid.id }));
  equal(error.code, "charge_already_refunded");
});

story("more than was paid is not refunded", async ({ stripe, simulator }) => {
  const paid = await stripe.paymentIntents.create(lamp());
  const error = await refusal(stripe.refunds.create({ payment_intent: paid.id, amount: 4201 }));
  deepEqual([error.statusCode, error.code, error.param], [400, undefined, "amount"]);
  equal((await refunds(simulator)).total, 0);
});

story("a refund that was sent twice is one", async ({ stripe, simulator }) => {
  const paid = await stripe.paymentIntents.create(lamp());
  for (let time = 1; time <= 2; time++) {
    await stripe.refunds.create({ payment_intent: paid.id, amount: 1000 }, { idempotencyKey: "return-7" });
  }
  equal((await refunds(simulator)).amount_succeeded, 1000);
});

story("a refund has metadata of its own", async ({ stripe }) => {
  const paid = await stripe.paymentIntents.create(lamp());
  const { id } = await stripe.refunds.create({ payment_intent: paid.id, metadata: { return: "7" } });
  await stripe.refunds.update(id, { metadata: { clerk: "Ann" } });
  deepEqual((await stripe.refunds.retrieve(id)).metadata, { return: "7", clerk: "Ann" });
});

for (const [paymentMethod, atFirst, inTheEnd] of [
  ["pm_card_pendingRefund", "pending", "succeeded"],
  ["pm_card_refundFail", "succeeded", "failed"],
]) {
  story(`a refund may change its mind: ${paymentMethod}`, async ({ stripe, simulator }) => {
    const paid = await stripe.paymentIntents.create(lamp(paymentMethod));
    const { id, status } = await stripe.refunds.create({ payment_intent: paid.id });
    equal(status, atFirst);
    await simulator.control("POST", "settle", {});
    equal((await stripe.refunds.retrieve(id)).status, inTheEnd);
  });
}
