// What is in the till.

import { deepEqual, equal } from "node:assert/strict";

import { lamp, story } from "../lib/story.js";

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

story("payments and refunds move the balance", async ({ stripe, simulator }) => {
  const paid = await stripe.paymentIntents.create(lamp("pm_card_bypassPending"));
  await simulator.control("POST", "settle", {});
  const charge = await stripe.charges.retrieve(paid.latest_charge, { expand: ["balance_transaction"] });
  const bought = charge.balance_transaction;
  deepEqual([bought.type, bought.amount, bought.source], ["charge", 4200, charge.id]);
  equal(bought.net, bought.amount - bought.fee);

  await stripe.refunds.create({ payment_intent: paid.id, amount: 1000 });
  const { data } = await stripe.balanceTransactions.list();
  deepEqual(data.map((it) => [it.type, it.amount]), [["refund", -1000], ["charge", 4200]]);

  const balance = await stripe.balance.retrieve();
  const funds = [...balance.available, ...balance.pending].filter((fund) => fund.currency === "usd");
  equal(sum(funds.map((fund) => fund.amount)), sum(data.map((it) => it.net)));
});
