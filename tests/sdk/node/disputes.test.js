// A customer asks their bank for the money, instead of the shop.

import { deepEqual, equal, ok } from "node:assert/strict";

import { lamp, refusal, story } from "../lib/story.js";

async function openDispute(stripe, simulator) {
  const paid = await stripe.paymentIntents.create(lamp("pm_card_createDispute"));
  await simulator.control("POST", "settle", {});
  const { data: [dispute] } = await stripe.disputes.list({ payment_intent: paid.id });
  deepEqual([dispute.status, dispute.amount, dispute.charge], ["needs_response", 4200, paid.latest_charge]);
  return dispute;
}

for (const [evidence, end] of [["winning_evidence", "won"], ["losing_evidence", "lost"]]) {
  story(`the bank decides by the evidence: ${end}`, async ({ stripe, simulator }) => {
    const { id } = await openDispute(stripe, simulator);
    const answered = await stripe.disputes.update(id, { evidence: { uncategorized_text: evidence } });
    equal(answered.status, "under_review");
    await simulator.control("POST", "settle", {});
    equal((await stripe.disputes.retrieve(id)).status, end);
  });
}

story("who does not answer has lost", async ({ stripe, simulator }) => {
  const { id, charge } = await openDispute(stripe, simulator);
  equal((await stripe.disputes.close(id)).status, "lost");
  ok((await stripe.charges.retrieve(charge)).disputed);
});

story("what is disputed is not refunded", async ({ stripe, simulator }) => {
  const { charge } = await openDispute(stripe, simulator);
  const error = await refusal(stripe.refunds.create({ charge }));
  equal(error.code, "charge_disputed");
});
