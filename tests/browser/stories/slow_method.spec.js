// A bank account is debited, and the bank decides later.

import { expect, expectOf, expectOnePurchase, test } from "../lib/test.js";

const ARRIVES = /DE89/;
const IS_REFUSED = /DE62/;

test("the money arrives while the customer waits @phone", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.chooses(ARRIVES);
  await visitor.pays();
  await visitor.isToldToWait();
  await expectOf(shop, { checkouts: 1, paid: 0, lamps: 1 });
  await shop.timePasses(60);
  await visitor.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});

test("the bank refuses, and the customer pays by card @phone", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.chooses(IS_REFUSED);
  await visitor.pays();
  await visitor.isToldToWait();
  await shop.timePasses(60);
  await expect(visitor.heading).toHaveText("The payment was declined");
  await expect(visitor.page.getByRole("alert")).toContainText("The bank refused the debit. You were not charged.");
  await visitor.page.getByRole("link", { name: "Try again" }).click();
  await visitor.chooses(/4242/);
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await expectOf(shop, { checkouts: 2, paid: 1 });
});

test("the customer closes the page, and comes back the next day", async ({ visitor, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.chooses(ARRIVES);
  await visitor.pays();
  await visitor.isToldToWait();
  const tab = await visitor.opensTab();
  await visitor.page.close();
  await shop.timePasses(60);
  await tab.goes("/checkout");
  await tab.isToldThatItIsPaid();
  await expectOnePurchase(shop);
});
